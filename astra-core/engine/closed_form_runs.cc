#include "astra-core/engine/closed_form_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace astra {

ClosedFormRuns::ClosedFormRuns(const Communicators& communicators,
                               LinkSharing& sharing, EventQueue& timers,
                               uint32_t kind)
    : communicators_(communicators),
      sharing_(sharing),
      timers_(timers),
      kind_(kind),
      forms_(communicators.list.size()),
      members_(communicators.of_class.size()) {}

void ClosedFormRuns::Start(CommunicatorId communicator, const LinkUse& use,
                           TimePs alone, TimePs now) {
  forms_[communicator.index()] = {
      .use = use, .left = alone, .since = now, .ends = {}};
  for (const uint32_t member : MembersOf(communicator)) {
    members_[member].running.push_back(communicator);
  }
  SetTimer(communicator, now);
  Share(communicator, now);
}

void ClosedFormRuns::End(CommunicatorId communicator, TimePs now) {
  for (const uint32_t member : MembersOf(communicator)) {
    std::vector<CommunicatorId>& running = members_[member].running;
    running.erase(std::find(running.begin(), running.end(), communicator));
  }
  Share(communicator, now);
}

void ClosedFormRuns::Share(CommunicatorId communicator, TimePs now) {
  changed_.clear();
  for (const uint32_t id : MembersOf(communicator)) {
    Member& member = members_[id];
    if (member.running.size() < 2) {
      member.speeds.assign(member.running.size(), 1);
    } else {
      uses_.clear();
      for (const CommunicatorId each : member.running) {
        uses_.push_back(forms_[each.index()].use);
      }
      member.speeds = sharing_.Speeds(uses_);
    }
    for (size_t i = 0; i < member.speeds.size(); ++i) {
      const CommunicatorId each = member.running[i];
      const bool is_new_speed = member.speeds[i] != forms_[each.index()].speed;
      if (is_new_speed) changed_.push_back(each);
    }
  }
  for (const CommunicatorId each : changed_) ChangeSpeed(each, now);
}

double ClosedFormRuns::SpeedOf(CommunicatorId communicator) const {
  double speed = 1;
  for (const uint32_t id : MembersOf(communicator)) {
    const Member& member = members_[id];
    for (size_t i = 0; i < member.running.size(); ++i) {
      if (member.running[i] == communicator) {
        speed = std::min(speed, member.speeds[i]);
      }
    }
  }
  return speed;
}

void ClosedFormRuns::ChangeSpeed(CommunicatorId communicator, TimePs now) {
  Form& form = forms_[communicator.index()];
  const double speed = SpeedOf(communicator);
  if (speed == form.speed || form.ends == now) return;
  timers_.Cancel(
      {.time = form.ends, .kind = kind_, .index = communicator.index()});
  form.left =
      std::max(TimePs(0), form.left - ShareOf(form.speed, now - form.since));
  form.since = now;
  form.speed = speed;
  SetTimer(communicator, now);
}

void ClosedFormRuns::SetTimer(CommunicatorId communicator, TimePs now) {
  Form& form = forms_[communicator.index()];
  form.ends =
      now +
      TimePs(std::llround(static_cast<double>(form.left.count()) / form.speed));
  timers_.Push(
      {.time = form.ends, .kind = kind_, .index = communicator.index()});
}

}  // namespace astra
