// simai_analytical: predicts how long one iteration takes on a cluster, and
// why.

#include "astra-core/apps/run_defaults.h"
#include "astra-core/apps/run_program.h"

int main(int argc, char** argv) {
  return astra::RunProgram(astra::SimaiAnalyticalDefaults(), argc, argv);
}
