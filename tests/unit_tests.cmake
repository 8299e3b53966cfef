# The tests in C++: one executable for each folder, which mirrors a folder of the
# sources and links only what it tests.

find_package(GTest REQUIRED)
include(GoogleTest)

# After astra_flags, which would take them back.
add_library(astra_test_flags INTERFACE)
# Tests name only the fields that matter to them.
target_compile_options(astra_test_flags INTERFACE
  -Wno-missing-field-initializers ${ASTRA_NO_FALSE_WARNINGS})
# Most tests run for no time, so optimising them would take longer than it saved.
target_compile_options(astra_test_flags INTERFACE -O0)
# UBSan watches the code that is tested, not the tests, which compile faster so.
if(ASTRA_SANITIZERS)
  target_compile_options(astra_test_flags INTERFACE -fno-sanitize=undefined)
endif()

# What all tests share. Its precompiled header, which costs more than most
# tests, is theirs too.
add_library(astra_testing STATIC
  testing/files.cc
  testing/programs.cc)
target_link_libraries(astra_testing PUBLIC
  astra_flags astra_test_flags absl::status absl::statusor astra::base fmt::fmt
  GTest::gmock GTest::gtest_main)
target_include_directories(astra_testing PUBLIC ${PROJECT_SOURCE_DIR})
# Only these two sources know absolute paths, so that a compiler cache finds all
# others again in another folder.
set_property(SOURCE testing/files.cc PROPERTY COMPILE_DEFINITIONS
  ASTRA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
set_property(SOURCE testing/programs.cc PROPERTY COMPILE_DEFINITIONS
  ASTRA_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
target_precompile_headers(astra_testing PRIVATE
  <gmock/gmock.h> <gtest/gtest.h>
  <fmt/format.h> <fmt/ranges.h>
  <absl/status/statusor.h>
  <map> <string> <string_view> <vector>)

# astra_test(<name> SOURCES <file>... [ALONE <file>...] DEPS <target>...
#            [PROGRAMS <target>...] [LONG])
#
# The executable <name> of one folder's tests; ctest names them FOLDER.TEST.
# With sanitizers, where a process takes longer to begin than most tests, all of
# a folder are one test of ctest. PROGRAMS are those that the tests run, by the
# names of their targets. LONG: they would take minutes with sanitizers, so they are
# built in every other build that has tests.
#
# With ASTRA_UNITY the sources of a folder are compiled as one, which takes a quarter of
# the time. Those under ALONE are not: they name local functions as others do.
function(astra_test name)
  cmake_parse_arguments(ARG "LONG" "" "SOURCES;ALONE;DEPS;PROGRAMS" ${ARGN})
  if(ARG_LONG AND ASTRA_SANITIZERS OR NOT ARG_LONG AND NOT ASTRA_UNIT_TESTS)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_ALONE})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} astra_testing)
  target_precompile_headers(${name} REUSE_FROM astra_testing)
  if(ASTRA_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_compile_options(${name} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    if(ARG_ALONE)
      set_property(SOURCE ${ARG_ALONE} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
  if(ARG_PROGRAMS)
    add_dependencies(${name} ${ARG_PROGRAMS})
  endif()
  string(REGEX REPLACE "_test$" "" folder ${name})
  if(ASTRA_SANITIZERS)
    add_test(NAME ${folder} COMMAND ${name})
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${folder}. NO_PRETTY_VALUES
                         DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

astra_test(base_test
  SOURCES
    astra-core/base/collective_kind_test.cc
    astra-core/base/expert_routing_test.cc
    astra-core/base/csv_reader_test.cc
    astra-core/base/csv_test.cc
    astra-core/base/event_queue_test.cc
    astra-core/base/files_test.cc
    astra-core/base/json_writer_test.cc
    astra-core/base/log_test.cc
    astra-core/base/median_test.cc
    astra-core/base/names_test.cc
    astra-core/base/parallel_test.cc
    astra-core/base/parse_test.cc
    astra-core/base/pickle_writer_test.cc
    astra-core/base/progress_test.cc
    astra-core/base/sha256_test.cc
    astra-core/base/shell_word_test.cc
    astra-core/base/stop_handler_test.cc
    astra-core/base/text_reader_test.cc
    astra-core/base/units_test.cc
    astra-core/base/yaml_reader_test.cc
  DEPS astra::base)

astra_test(pages_test
  SOURCES
    astra-core/pages/charts_test.cc
    astra-core/pages/pages_test.cc
    astra-core/pages/timeline_chart_test.cc
  DEPS absl::strings astra::pages)

astra_test(topology_test
  SOURCES
    topology/cluster_test.cc
    topology/describe_test.cc
    topology/fabrics/fabrics_test.cc
    topology/next_hops_test.cc
    topology/routes_test.cc
    topology/storage_test.cc
    topology/templates/alibaba_hpn_test.cc
    topology/templates/contract_test.cc
    topology/templates/custom_test.cc
    topology/templates/dcn_plus_test.cc
    topology/templates/nvl_test.cc
    topology/templates/registry_test.cc
    topology/templates/spectrum_x_test.cc
    topology/topology_file_test.cc
    topology/topology_test.cc
    topology/two_level_cluster_test.cc
  ALONE
    topology/topology_builder_test.cc
    topology/topology_svg_test.cc
  DEPS astra::topology pugixml::pugixml)

astra_test(discovered_test
  SOURCES
    topology/discovered/discovered_fabric_test.cc
    topology/discovered/natural_order_test.cc
    topology/discovered/nccl_topology_test.cc
  DEPS astra::discovered)

astra_test(workload_test
  SOURCES
    workload/memory_events_test.cc
    workload/parallel_plan_test.cc
    workload/rank_order_test.cc
    workload/program_file_test.cc
    workload/program_test.cc
  ALONE
    workload/memory_timeline_test.cc
  DEPS astra::workload)

astra_test(simai_text_test
  SOURCES
    workload/simai_text/simai_text_file_test.cc
    workload/simai_text/simai_text_test.cc
  DEPS astra::simai_text)

# A new schedule brings a new test, which the next build finds.
file(GLOB pipeline_tests RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
     workload/pipeline/*.cc)
astra_test(pipeline_test
  ALONE ${pipeline_tests}
  DEPS astra::pipeline)

astra_test(operators_test
  SOURCES
    workload/operators/gpu_file_test.cc
    workload/operators/gpu_library_test.cc
    workload/operators/operator_test.cc
    workload/operators/roofline_test.cc
  DEPS astra::operators)

astra_test(kernels_test
  SOURCES
    workload/kernels/bounds_test.cc
    workload/kernels/expert_load_test.cc
    workload/kernels/kernel_predictor_test.cc
    workload/kernels/kernel_table_test.cc
    workload/kernels/neighbours_test.cc
    workload/kernels/surface_test.cc
    workload/kernels/surface_text_test.cc
    workload/kernels/transfer_test.cc
  DEPS astra::kernels)

astra_test(models_test
  SOURCES
    workload/models/aicb_config_test.cc
    workload/models/hugging_face_config_test.cc
    workload/models/model_file_test.cc
    workload/models/model_library_test.cc
    workload/models/model_spec_test.cc
  DEPS astra::models)

# A new kind of attention brings a new test, which the next build finds.
file(GLOB attention_tests RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
     workload/attention/*.cc)
astra_test(attention_test
  ALONE ${attention_tests}
  DEPS astra::models)

astra_test(modules_test
  SOURCES
    workload/modules/expert_skew_test.cc
    workload/modules/experts_test.cc
    workload/modules/token_prediction_test.cc
  ALONE
    workload/modules/feed_forward_test.cc
    workload/modules/logits_test.cc
    workload/modules/module_builder_test.cc
  DEPS astra::modules)

astra_test(frameworks_test
  SOURCES
    workload/frameworks/framework_file_test.cc
  DEPS astra::frameworks)

astra_test(generator_test
  SOURCES
    workload/generator/aicb_log_test.cc
    workload/generator/blueprint_test.cc
    workload/generator/explain_test.cc
    workload/generator/model_parts_test.cc
    workload/generator/module_times_test.cc
    workload/generator/simai_inference_test.cc
    workload/generator/training_parameters_test.cc
  ALONE
    workload/generator/inference_test.cc
    workload/generator/layout_rules_test.cc
    workload/generator/module_memory_test.cc
    workload/generator/optimizer_test.cc
    workload/generator/recompute_modules_test.cc
    workload/generator/simai_workload_test.cc
    workload/generator/timed_program_test.cc
    workload/generator/training_cost_test.cc
    workload/generator/training_setup_test.cc
    workload/generator/training_test.cc
  DEPS astra::generator)

astra_test(measured_operators_test
  SOURCES
    workload/operators/aiob_file_test.cc
    workload/operators/estimator_shapes_test.cc
    workload/operators/estimator_table_test.cc
    workload/operators/measured_model_test.cc
    workload/operators/measured_operators_test.cc
    workload/operators/operator_table_test.cc
  ALONE
    workload/operators/fitted_operators_test.cc
    workload/operators/vidur_table_test.cc
  DEPS astra::operators)

astra_test(regressors_test
  SOURCES
    workload/regressors/operator_trees_test.cc
    workload/regressors/regressors_test.cc
  DEPS astra::regressors)

astra_test(vidur_test
  SOURCES
    astra-core/apps/vidur/simai_vidur_options_test.cc
    workload/vidur/vidur_cost_test.cc
    workload/vidur/vidur_metrics_test.cc
    workload/vidur/vidur_requests_test.cc
  DEPS astra::vidur astra::vidur_app)

# A new scheduler brings a new test, which the next build finds.
file(GLOB serving_tests RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
     workload/serving/*_test.cc)
file(GLOB scheduler_tests RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS
     workload/serving/schedulers/*_test.cc)
astra_test(serving_test
  SOURCES ${serving_tests}
  ALONE ${scheduler_tests}
  DEPS astra::serving)

astra_test(collectives_test
  SOURCES
    collectives/algorithms/bytes_sent_test.cc
    collectives/algorithms/direct_test.cc
    collectives/algorithms/patterns_test.cc
    collectives/algorithms/pipelined_test.cc
    collectives/algorithms/refusals_test.cc
    collectives/algorithms/ring_test.cc
    collectives/algorithms/server_tree_test.cc
    collectives/bus_bandwidth_file_test.cc
    collectives/closed_form_test.cc
    collectives/collective_request_test.cc
    collectives/group_layout_test.cc
    collectives/measured_curve_test.cc
    collectives/registry_test.cc
  ALONE
    collectives/contract_test.cc
    collectives/flow_graph_test.cc
    collectives/reduction_tree_test.cc
  DEPS astra::collectives)
# Replays a great many messages: a third of all the time of the tests under
# sanitizers, without optimisation. (The precompiled header has none.)
set_source_files_properties(collectives/contract_test.cc PROPERTIES
  COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)

astra_test(dispatchers_test
  SOURCES
    collectives/dispatchers/dispatcher_test.cc
    collectives/dispatchers/token_reach_test.cc
  DEPS astra::dispatchers)

astra_test(inference_engines_test
  SOURCES
    collectives/inference_engines/engine_file_test.cc
  DEPS astra::inference_engines)

astra_test(systems_test
  SOURCES
    collectives/systems/system_file_test.cc
    collectives/systems/system_library_test.cc
  DEPS astra::operators astra::systems)

astra_test(measurements_test
  SOURCES
    collectives/measurements/comparison_plot_test.cc
    collectives/measurements/comparison_test.cc
    collectives/measurements/error_summary_test.cc
    collectives/measurements/inspector_log_test.cc
    collectives/measurements/measured_environment_test.cc
    collectives/measurements/measured_file_test.cc
    collectives/measurements/measured_table_test.cc
    collectives/measurements/measured_terms_test.cc
    collectives/measurements/measured_times_test.cc
    collectives/measurements/nccl_tests_log_test.cc
    collectives/measurements/other_tables_test.cc
    collectives/measurements/outcome_test.cc
    collectives/measurements/svg_plot_test.cc
  DEPS astra::measurements)

astra_test(schedules_test
  SOURCES
    collectives/schedules/custom_schedule_test.cc
    collectives/schedules/msccl_file_test.cc
    collectives/schedules/schedule_file_test.cc
  DEPS astra::schedules)

astra_test(nccl_test
  SOURCES
    collectives/nccl/channel_graph_test.cc
    collectives/nccl/collective_time_test.cc
    collectives/nccl/collnet_time_test.cc
    collectives/nccl/dispatch_time_test.cc
    collectives/nccl/engine_time_test.cc
    collectives/nccl/nccl_options_test.cc
    collectives/nccl/system_topology_test.cc
  ALONE
    collectives/nccl/estimator_test.cc
    collectives/nccl/group_hardware_test.cc
    collectives/nccl/nccl_chunking_test.cc
    collectives/nccl/tuning_test.cc
  DEPS astra::nccl)

astra_test(calibration_test
  SOURCES
    collectives/calibration/measured_setup_test.cc
    collectives/calibration/observations_test.cc
  DEPS astra::calibration)

astra_test(api_test
  SOURCES collectives/api/simai_collectives_test.cc
  DEPS astra::collectives_api)

astra_test(network_test
  SOURCES
    network-frontends/analytical/analytical_backend_test.cc
    network-frontends/backend_agreement_test.cc
    network-frontends/backend_contract_test.cc
  DEPS astra::backends astra::engine)

astra_test(backend_packet_test
  SOURCES
    network-frontends/packet/agenda_test.cc
    network-frontends/packet/faults_test.cc
    network-frontends/packet/islands_test.cc
    network-frontends/packet/packet_options_test.cc
    network-frontends/packet/packet_congestion_test.cc
    network-frontends/packet/packet_window_test.cc
    network-frontends/packet/port_test.cc
    network-frontends/packet/random_network.cc
    network-frontends/packet/random_network_test.cc
    network-frontends/packet/shared_buffer_test.cc
    network-frontends/packet/simai_hash_test.cc
  ALONE
    network-frontends/packet/forwarding_test.cc
    network-frontends/packet/packet_backend_test.cc
    network-frontends/packet/records_test.cc
    network-frontends/packet/senders_test.cc
  DEPS astra::backend_packet)

astra_test(packet_zones_test
  SOURCES
    network-frontends/packet/random_network.cc
    network-frontends/packet/zones/zoned_packet_network_test.cc
    network-frontends/packet/zones/zoning_test.cc
  DEPS astra::packet_zones)

astra_test(backend_flow_test
  SOURCES
    network-frontends/flow/deadline_queue_test.cc
    network-frontends/flow/fair_rates_test.cc
    network-frontends/flow/flow_backend_test.cc
    network-frontends/flow/link_faults_test.cc
    network-frontends/flow/max_min_test.cc
  DEPS astra::backend_flow)

file(GLOB congestion_tests CONFIGURE_DEPENDS
  network-frontends/packet/congestion/*_test.cc)
astra_test(congestion_test
  ALONE ${congestion_tests}
  DEPS astra::congestion)

astra_test(network_config_test
  SOURCES
    network-frontends/config/amounts_test.cc
    network-frontends/config/network_file_test.cc
  ALONE
    network-frontends/config/simai_conf_test.cc
  DEPS astra::network_config)

astra_test(traffic_test
  SOURCES
    network-frontends/traffic/all_to_all_test.cc
    network-frontends/traffic/flow_sizes_test.cc
    network-frontends/traffic/incast_test.cc
    network-frontends/traffic/permutation_test.cc
    network-frontends/traffic/traffic_draw_test.cc
  DEPS astra::traffic)

astra_test(engine_test
  SOURCES
    astra-core/engine/breakdown_test.cc
    astra-core/engine/critical_path_test.cc
    astra-core/engine/custom_collectives_test.cc
    astra-core/engine/dualpipe_simulation_test.cc
    astra-core/engine/flow_carrier_test.cc
    astra-core/engine/flow_run_test.cc
    astra-core/engine/iteration_test.cc
    astra-core/engine/link_sharing_test.cc
    astra-core/engine/lone_run_test.cc
    astra-core/engine/message_costs_test.cc
    astra-core/engine/message_facts_test.cc
    astra-core/engine/rank_classes_test.cc
    astra-core/engine/simai_executor_test.cc
    astra-core/engine/simai_schedule_test.cc
    astra-core/engine/pipeline_program_test.cc
  ALONE
    astra-core/engine/message_simulation_test.cc
    astra-core/engine/program_simulation_test.cc
    astra-core/engine/replay_test.cc
    astra-core/engine/slot_ops_test.cc
    astra-core/engine/simulation_test.cc
    astra-core/engine/zoned_run_test.cc
  DEPS astra::backend_analytical astra::backend_flow astra::backend_packet
       astra::engine astra::packet_zones
       astra::results astra::simai_text)

astra_test(results_test
  SOURCES
    astra-core/results/completions_table_test.cc
    astra-core/results/latencies_table_test.cc
    astra-core/results/memory_table_test.cc
    astra-core/results/message_times_test.cc
    astra-core/results/program_summary_test.cc
    astra-core/results/stages_table_test.cc
    astra-core/results/storage_tables_test.cc
    astra-core/results/tables_test.cc
  DEPS astra::backend_analytical astra::engine astra::results
       astra::simai_text)

astra_test(run_test
  SOURCES
    astra-core/run/events_file_test.cc
    astra-core/run/fidelity_test.cc
    astra-core/run/run_test.cc
    astra-core/run/traffic_run_test.cc
  DEPS astra::backends astra::run astra::simai_text)

# Files that a reader must refuse, each with its exact message.
astra_test(bad_inputs_test
  SOURCES
    bad_inputs/flow_sizes_test.cc
    bad_inputs/ibnetdiscover_test.cc
    bad_inputs/pattern_spec_test.cc
  ALONE
    bad_inputs/nccl_topology_test.cc
    bad_inputs/topology_test.cc
    bad_inputs/workload_test.cc
  DEPS astra::discovered astra::simai_text astra::topology astra::traffic)

astra_test(command_line_test
  SOURCES
    astra-core/command_line/blanks_test.cc
    astra-core/command_line/command_line_test.cc
    astra-core/command_line/main_support_test.cc
  ALONE
    astra-core/command_line/shell_files_test.cc
  DEPS astra::command_line)

astra_test(sweep_test
  SOURCES
    astra-core/sweep/expression_test.cc
    astra-core/sweep/number_range_test.cc
    astra-core/sweep/point_commands_test.cc
    astra-core/sweep/sweep_axes_test.cc
    astra-core/sweep/sweep_file_test.cc
    astra-core/sweep/sweep_points_test.cc
    astra-core/sweep/sweep_sections_test.cc
    astra-core/sweep/sweep_value_test.cc
    astra-core/sweep/swept_program_test.cc
  ALONE
    astra-core/sweep/text_pattern_test.cc
  DEPS astra::sweep)

astra_test(sweep_execution_test
  SOURCES
    astra-core/sweep/execution/captured_command_test.cc
    astra-core/sweep/execution/local_scheduler_test.cc
    astra-core/sweep/execution/point_process_test.cc
    astra-core/sweep/execution/point_record_test.cc
    astra-core/sweep/execution/run_metrics_test.cc
    astra-core/sweep/execution/slurm_job_test.cc
    astra-core/sweep/execution/slurm_queue_test.cc
    astra-core/sweep/execution/slurm_scheduler_test.cc
    astra-core/sweep/execution/sweep_folder_test.cc
  DEPS astra::sweep_execution)

astra_test(sweep_results_test
  SOURCES
    astra-core/sweep/results/comparison_text_test.cc
    astra-core/sweep/results/database_test.cc
    astra-core/sweep/results/difference_text_test.cc
    astra-core/sweep/results/flat_json_test.cc
    astra-core/sweep/results/html_report_test.cc
    astra-core/sweep/results/ranking_test.cc
    astra-core/sweep/results/results_view_test.cc
    astra-core/sweep/results/row_text_test.cc
    astra-core/sweep/results/sweep_table_test.cc
    astra-core/sweep/results/text_columns_test.cc
  ALONE
    astra-core/sweep/results/computed_metrics_test.cc
    astra-core/sweep/results/requirements_test.cc
    astra-core/sweep/results/row_expression_test.cc
    astra-core/sweep/results/sweep_store_test.cc
    astra-core/sweep/results/table_text_test.cc
  DEPS astra::sweep_results)

astra_test(fit_app_test
  SOURCES
    astra-core/apps/fit/constants_fit_test.cc
    astra-core/apps/fit/iteration_file_test.cc
    astra-core/apps/fit/simai_fit_compare_test.cc
    astra-core/apps/fit/simai_fit_iteration_test.cc
  DEPS astra::fit_app)

astra_test(internevo_test
  SOURCES
    astra-core/planner/internevo/evo_config_test.cc
    astra-core/planner/internevo/evo_cost_test.cc
    astra-core/planner/internevo/evo_model_test.cc
    astra-core/planner/internevo/evo_profile_test.cc
    astra-core/planner/internevo/evo_search_test.cc
    astra-core/planner/internevo/small_evo_job.h
  DEPS astra::internevo)

astra_test(simumax_test
  SOURCES
    astra-core/planner/simumax/blocking_pipeline_test.cc
    astra-core/planner/simumax/cost_model_test.cc
    astra-core/planner/simumax/simumax_files_test.cc
    astra-core/planner/simumax/simumax_test_files.h
  ALONE
    astra-core/planner/simumax/simulate_test.cc
  DEPS astra::simumax)

astra_test(plan_app_test
  SOURCES
    astra-core/apps/plan/heat_map_test.cc
    astra-core/apps/plan/internevo_request_test.cc
    astra-core/apps/plan/launch_files_test.cc
    astra-core/apps/plan/layout_cells_test.cc
    astra-core/apps/plan/plan_page_test.cc
    astra-core/apps/plan/plan_run_test.cc
    astra-core/apps/plan/plan_search_test.cc
    astra-core/apps/plan/plan_test_job.h
    astra-core/apps/plan/plan_what_if_test.cc
    astra-core/apps/plan/simai_planner_calculon_test.cc
  ALONE
    astra-core/apps/plan/plan_objective_test.cc
    astra-core/apps/plan/simai_planner_internevo_test.cc
    astra-core/apps/plan/simai_planner_options_test.cc
    astra-core/apps/plan/simumax_plan_test.cc
  DEPS astra::plan_app
  PROGRAMS simai_planner)

astra_test(calculon_test
  SOURCES
    astra-core/planner/calculon/calculon_block_test.cc
    astra-core/planner/calculon/calculon_cost_test.cc
    astra-core/planner/calculon/calculon_files_test.cc
    astra-core/planner/calculon/calculon_machine_test.cc
    astra-core/planner/calculon/calculon_memory_test.cc
    astra-core/planner/calculon/calculon_result_test.cc
    astra-core/planner/calculon/calculon_schedule_test.cc
    astra-core/planner/calculon/calculon_test_inputs.h
  ALONE
    astra-core/planner/calculon/calculon_rules_test.cc
  DEPS astra::calculon)

astra_test(step_times_test
  SOURCES
    astra-core/serving/cache_memory_test.cc
    astra-core/serving/kv_layout_test.cc
    astra-core/serving/capacity_search_test.cc
    astra-core/serving/serving_plan_test.cc
    astra-core/serving/step_times_test.cc
    astra-core/serving/weight_loading_test.cc
  DEPS astra::kernels astra::serving astra::step_times)

astra_test(compare_app_test
  SOURCES astra-core/apps/compare/finished_run_test.cc
  DEPS astra::compare_app)

astra_test(goodput_test
  SOURCES astra-core/goodput/goodput_test.cc
  DEPS astra::goodput)

astra_test(hosts_test
  SOURCES
    astra-core/hosts/bytes_test.cc
    astra-core/hosts/fabric/fabric_endpoint_test.cc
    astra-core/hosts/handshake_test.cc
    astra-core/hosts/socket_test.cc
  DEPS astra::fabric astra::hosts)

astra_test(physical_test
  SOURCES
    astra-core/apps/physical/host_file_test.cc
    astra-core/apps/physical/rank_environment_test.cc
    astra-core/apps/physical/run_beside_test.cc
    astra-core/physical/control_message_test.cc
    astra-core/physical/coordinator_test.cc
    astra-core/physical/rdma_connections_test.cc
  DEPS astra::physical_app)

astra_test(jobs_test
  SOURCES
    astra-core/jobs/jobs_file_test.cc
    astra-core/jobs/jobs_run_test.cc
    astra-core/jobs/placement_test.cc
    astra-core/jobs/storage_messages_test.cc
  ALONE
    astra-core/jobs/serving_jobs_test.cc
    astra-core/jobs/storage_run_test.cc
  DEPS astra::backends astra::jobs astra::network_config astra::serving_fabric)

astra_test(traces_test
  SOURCES
    workload/traces/chakra_trace_test.cc
    workload/traces/deadlock_test.cc
    workload/traces/gzip_test.cc
    workload/traces/kineto_profile_test.cc
  DEPS astra::traces)

astra_test(trace_runs_test
  SOURCES
    astra-core/traces/goal_text_test.cc
    astra-core/traces/trace_simulation_test.cc
  DEPS astra::backend_analytical astra::backend_flow astra::simai_text
       astra::trace_runs)

astra_test(serving_fabric_test
  SOURCES
    astra-core/serving/fabric/serving_fabric_test.cc
  ALONE
    astra-core/serving/fabric/step_messages_test.cc
  DEPS astra::backends astra::serving_fabric)

astra_test(testbed_test
  SOURCES
    astra-core/apps/testbed/emulated_fabric_test.cc
    astra-core/apps/testbed/lateness_test.cc
    astra-core/apps/testbed/simai_wire_options_test.cc
    astra-core/apps/testbed/tcp_train_test.cc
  DEPS astra::testbed)

astra_test(simulator_app_test
  SOURCES astra-core/apps/simulator/served_jobs_test.cc
  DEPS astra::simulator_app
  PROGRAMS gen_topo gen_workload simai_analytical simai_serving simai_simulator)

astra_test(trace_app_test
  SOURCES
    astra-core/apps/trace/kineto_tables_test.cc
    astra-core/apps/trace/simai_trace_test.cc
  DEPS astra::trace_app
  PROGRAMS gen_topo gen_workload simai_analytical simai_simulator simai_trace)

astra_test(serving_app_test
  SOURCES
    astra-core/apps/serving/serving_answers_test.cc
    astra-core/apps/serving/serving_files_test.cc
    astra-core/apps/serving/serving_page_test.cc
    astra-core/apps/serving/serving_progress_test.cc
    astra-core/apps/serving/serving_replay_test.cc
    astra-core/apps/serving/serving_rows_test.cc
    astra-core/apps/serving/engine_launch_test.cc
    astra-core/apps/serving/serving_benchmarks_test.cc
  ALONE
    astra-core/apps/serving/serving_pools_test.cc
    astra-core/apps/serving/serving_plan_job_test.cc
    astra-core/apps/serving/simai_serving_options_test.cc
  DEPS astra::serving_app)

astra_test(collective_app_test
  SOURCES
    astra-core/apps/collective/nccl_tests_sizes_test.cc
    astra-core/apps/collective/physical_measurements_test.cc
    astra-core/apps/collective/simai_collective_calibrate_test.cc
    astra-core/apps/collective/simai_collective_effects_test.cc
    astra-core/apps/collective/simai_collective_options_test.cc
    astra-core/apps/collective/simai_collective_test.cc
  DEPS astra::collective_app
  PROGRAMS simai_collective)

astra_test(sweep_app_test
  SOURCES
    astra-core/apps/sweep/simai_sweep_options_test.cc
  DEPS astra::sweep_app)

astra_test(apps_test
  SOURCES
    astra-core/apps/analytical_work_test.cc
    astra-core/apps/flows_log_test.cc
    astra-core/apps/gen_topo_options_test.cc
    astra-core/apps/gen_topo_test.cc
    astra-core/apps/gen_workload_test.cc
    astra-core/apps/iteration_trace_test.cc
    astra-core/apps/jobs_program_test.cc
    astra-core/apps/memory_snapshot_test.cc
    astra-core/apps/network_summary_test.cc
    astra-core/apps/own_algorithms_test.cc
    astra-core/apps/packet_capture_test.cc
    astra-core/apps/pattern_program_test.cc
    astra-core/apps/run_watch_test.cc
    astra-core/apps/server_types_test.cc
    astra-core/apps/simai_network_files_test.cc
    astra-core/apps/work_budget_test.cc
  ALONE
    astra-core/apps/gen_workload_effects_test.cc
    astra-core/apps/gen_workload_model_test.cc
    astra-core/apps/gen_workload_options_test.cc
    astra-core/apps/simai_analytical_test.cc
    astra-core/apps/simai_simulator_test.cc
    astra-core/apps/storage_report_test.cc
  DEPS astra::apps
  PROGRAMS gen_topo gen_workload simai_analytical simai_simulator)

astra_test(long_test
  SOURCES
    astra-core/apps/gen_workload_simulation_test.cc
    astra-core/apps/plan/plan_estimate_test.cc
    astra-core/apps/plan/pruned_search_test.cc
    collectives/calibration/calibrate_test.cc
  ALONE
    astra-core/serving/steady_state_test.cc
  DEPS astra::apps astra::calibration astra::plan_app astra::step_times
  PROGRAMS gen_topo gen_workload simai_analytical simai_simulator
  LONG)
