"""The manual's promises, each with the tests that prove it: a promise without one, or a test without one, fails here.

Every test of this folder is run in each tier that makes its promise, on every kind of host that can be had: by
test_other_hosts.py, in containers (test_container_long.py) and in virtual machines (test_machine_long.py).
"""

import ast
import dataclasses
import re
from pathlib import Path

import pytest

from tests.support.table_rows import Rows
from viva.sandbox.guest.lockdown import escape_probes
from viva.sandbox.guest.transport.message_types import Canary
from viva.sandbox.limits import Limits

HERE = Path(__file__).parent
TESTS = HERE.parents[2]
MANUAL = (TESTS.parent / "docs" / "sandbox.md").read_text("utf-8")

LIMITS = {
    "load_s": "sandbox/guest/test_loading.py::test_load_limit_keeps_names "
    "sandbox/guest/test_loading.py::test_definitions_after_time_of_file "
    "examiner/test_session.py::test_load_that_ends_its_box",
    "call_s": "test_endings.py::test_hang_costs_its_time_limit examiner/test_grading.py::test_hang_costs_one_test",
    "test_s": "examiner/test_session.py::test_questions_of_one_test_share_its_time",
    "submission_s": "examiner/test_session.py::test_only_box_time_counts "
    "examiner/test_grading.py::test_submission_is_finished_when_its_time_is_used_up",
    "memory_mib": "test_bombs.py::test_memory_bomb test_bombs.py::test_shared_memory_counts "
    "test_bombs.py::test_memory_of_processes_counts_together "
    "test_bombs.py::test_memory_shared_with_children_counts_once "
    "test_unseen_memory.py::test_what_sockets_hold_counts_as_memory "
    "test_calls.py::test_every_call_gets_one_answer_in_each_tier "
    "test_unseen_memory.py::test_memory_of_files_and_processes_counts_together "
    "test_unseen_memory.py::test_no_process_hides_from_the_count "
    "test_resources.py::test_box_out_of_memory_leaves_nothing",
    "disk_mib": "test_resources.py::test_each_folder_has_its_own_share_of_disk "
    "test_unseen_memory.py::test_nameless_files_count "
    "test_resources.py::test_shared_memory_files_are_bounded test_bombs.py::test_one_large_file_is_refused",
    "(files)": "test_bombs.py::test_many_files_are_stopped",
    "output_kib": "test_bombs.py::test_output_is_kept_up_to_limit test_bombs.py::test_output_flood_ends_box",
    "processes": "test_bombs.py::test_fork_bomb test_bombs.py::test_threads_count_as_processes",
    "fork": "test_escapes.py::test_without_fork_only_threads",
    "(processor time)": "test_bombs.py::test_processor_time_is_limited",
    "(answers)": "test_resources.py::test_too_large_answer test_resources.py::test_deep_answer_stays_in_box",
    "(always)": "test_environment.py::test_every_resource_limit_is_set "
    "test_environment.py::test_no_resource_limit_can_be_lifted "
    "test_environment.py::test_environment_variables "
    "test_environment.py::test_random_numbers_start_alike_in_every_box",
}
"""First column of the manual's table of limits -> tests."""

THREATS = {
    "Forging a mark": "hostile/test_hostile.py::test_nothing_is_gained_and_nothing_lasts "
    "test_endings.py::test_noise_on_wire_ends_box",
    "Reading answers, hidden tests, seeds, other submissions": "test_escapes.py::test_key_is_unreadable "
    "test_escapes.py::test_public_file_is_unreadable "
    "test_environment.py::test_environment_variables "
    "test_escapes.py::test_only_wire_is_open "
    "test_escapes.py::test_other_processes_do_not_show_in_proc "
    "test_environment.py::test_proc_of_host_is_refused",
    "Reaching another box": "test_neighbours.py::test_neighbour_memory_is_unreadable "
    "test_neighbours.py::test_files_of_another_box_cannot_be_opened "
    "test_neighbours.py::test_sockets_of_another_box_cannot_be_reached "
    "test_neighbours.py::test_neighbour_cannot_be_signalled "
    "test_neighbours.py::test_neighbour_shared_memory_is_unlisted "
    "test_neighbours.py::test_no_file_is_opened_to_another_box "
    "test_escapes.py::test_box_cannot_connect_to_open_socket "
    "test_escapes.py::test_sockets_of_others_are_unlisted",
    "Gaining rights": "test_environment.py::test_it_has_no_capability_and_no_way_to_one "
    "test_environment.py::test_set_uid_program_gains_nothing "
    "test_calls.py::test_every_call_gets_one_answer_in_each_tier "
    "test_calls.py::test_new_and_unreviewed_calls_do_not_exist "
    "test_calls.py::test_every_action_gets_one_answer_in_each_tier "
    "test_calls.py::test_other_abi_is_killed test_environment.py::test_32_bit_abi_is_killed",
    "Learning hidden inputs": "examiner/test_leaks.py::test_hidden_inputs_reach_no_student "
    "examiner/test_session.py::test_visible_test_gets_clean_box",
    "Outliving the box": "test_endings.py::test_daemons_end_with_their_box "
    "test_escapes.py::test_files_end_with_their_box "
    "test_lifecycle.py::test_nothing_outlives_killed_examiner "
    "test_lifecycle.py::test_boxes_end_with_killed_fork_server "
    "test_resources.py::test_nothing_is_left_on_host",
    "Network": "test_escapes.py::test_network_is_off test_escapes.py::test_abstract_sockets_are_unreachable",
    "Exhaustion": "faults/test_faults_resources.py::test_machine_out_of_memory "
    "test_bombs.py::test_fork_bomb test_bombs.py::test_memory_bomb "
    "test_endings.py::test_hang_costs_its_time_limit "
    "test_endings.py::test_trickled_reply_keeps_limit",
    "Files that are costly to read": "submissions/test_reading_child.py::test_this_process_stays_small "
    "submissions/test_reading_child.py::test_too_much_memory submissions/test_reading_child.py::test_too_much_time "
    "examiner/test_other_files.py::test_costly_files_are_graded "
    "examiner/test_other_files.py::test_reading_takes_time_of_submission",
    "Hostile replies": "sandbox/guest/test_wire.py::test_decoder_refuses "
    "sandbox/guest/test_wire.py::test_shared_buffer_is_refused "
    "sandbox/guest/test_wire.py::test_many_empty_containers "
    "pipeline/test_examiner_process.py::test_memory_of_large_answer_is_given_back",
    "The results": "formats/test_gates.py::test_no_control_character_gets_through "
    "formats/test_gates.py::test_html_stays_text "
    "formats/test_gates.py::test_no_cell_begins_a_formula "
    "hostile/test_hostile.py::test_nothing_is_gained_and_nothing_lasts",
    "The submission's folder": "submissions/test_opening.py::test_links_inside hostile/test_folders.py",
}
"""Threats that the manual calls covered -> tests."""

ATTEMPTS = {
    "read a secret": "test_escapes.py::test_key_is_unreadable",
    "reach the network": "test_escapes.py::test_network_is_off",
    "signal the parent": "test_escapes.py::test_examiner_cannot_be_signalled",
    "trace the parent": "test_calls.py::test_every_call_gets_one_answer_in_each_tier",
    "write outside": "test_escapes.py::test_nothing_outside_is_writable",
    "make a user namespace": "test_calls.py::test_every_call_gets_one_answer_in_each_tier",
}
"""What a box tries itself before it reads a student's byte -> the same, tried by a student."""


def section(title: str) -> str:
    """The text below one heading of the manual."""
    return re.split(r"^## ", MANUAL.split(f"## {title}\n", 1)[1], flags=re.MULTILINE)[0]


def test_manual_limits_have_tests() -> None:
    rows = re.findall(r"^\| (`?[(\w) ]+`?) \|", section("Limits"), re.MULTILINE)
    named = [row.strip("`") for row in rows if row != "limit"]
    assert named == list(LIMITS)
    assert {field.name for field in dataclasses.fields(Limits)} <= set(named)


def test_manual_defaults_are_real() -> None:
    for field in dataclasses.fields(Limits):
        row = re.search(rf"^\| `{field.name}` \| ([\w.]+) \|", section("Limits"), re.MULTILINE)
        assert row, field.name
        assert row[1] == (str(field.default).lower() if field.name == "fork" else f"{field.default:g}")


def test_manual_threats_have_tests() -> None:
    assert re.findall(r"^- \*([^*]+)\*:", section("Threats that are covered"), re.MULTILINE) == list(THREATS)


def test_attempts_are_tried_by_students() -> None:
    canary: Canary = {"file": "/no/such", "folder": "/no/such", "tcp": 9, "unix": "", "examiner": 1}
    assert set(escape_probes.run(canary, "T0")) == set(ATTEMPTS)


PROOFS = sorted({proof for table in (LIMITS, THREATS, ATTEMPTS) for text in table.values() for proof in text.split()})


def test_proofs_are_tests() -> None:
    with Rows() as row:
        for proof in PROOFS:
            with row(proof):
                file, _, name = proof.partition("::")
                path = HERE / file if "/" not in file else TESTS / file
                assert not name or name in {node.name for node in functions(path)}


def functions(path: Path) -> list[ast.FunctionDef]:
    """Tests of a file."""
    found = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    return [node for node in found if node.name.startswith("test_")]


ROOM = [path for path in sorted(HERE.glob("test_*.py")) if path != Path(__file__)]
BOXES = {"fork_server", "program", "own_fork_server", "victim", "attacker", "gpus", "torch_fork_server"}


@pytest.mark.parametrize("path", ROOM, ids=lambda path: path.stem)
def test_every_test_uses_a_box(path: Path) -> None:
    """Otherwise it would not be run in every tier."""
    for test in functions(path):
        assert BOXES & {argument.arg for argument in test.args.args}, test.name
