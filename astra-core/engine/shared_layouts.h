// Keeps one object for each layout of a group, so that pointers tell layouts
// apart.

#ifndef ASTRA_CORE_ENGINE_SHARED_LAYOUTS_H_
#define ASTRA_CORE_ENGINE_SHARED_LAYOUTS_H_

#include <memory>
#include <set>
#include <utility>

#include "collectives/group_layout.h"

namespace astra {

class SharedLayouts {
 public:
  // Returns the object that is equal to `layout`.
  std::shared_ptr<const GroupLayout> Share(GroupLayout layout) {
    return *layouts_
                .insert(std::make_shared<const GroupLayout>(std::move(layout)))
                .first;
  }

 private:
  struct Less {
    bool operator()(const std::shared_ptr<const GroupLayout>& a,
                    const std::shared_ptr<const GroupLayout>& b) const {
      return *a < *b;
    }
  };
  std::set<std::shared_ptr<const GroupLayout>, Less> layouts_;
};

}  // namespace astra

#endif  // ASTRA_CORE_ENGINE_SHARED_LAYOUTS_H_
