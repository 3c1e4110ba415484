"""Which value counts, what is told of those that do not, and the file that they stand in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import pytest

from aaep.errors import AaepError
from aaep.outputs.preferences import build_preferences, find_kind_settings, list_sounds, open_outputs
from aaep.presentation.earcons import EARCONS
from aaep.presentation.preferences import DEFAULT_PREFERENCES
from aaep.runtime.files import user_config_folder
from aaep.settings.fields import (
    FIELDS,
    BrailleSettings,
    Settings,
    UnknownSetting,
    describe_expected,
    find_field,
    parse_value,
)
from aaep.settings.file import change_setting, find_settings_file, read_settings_file
from aaep.settings.resolve import MAX_PROBLEMS, Source, load_settings, resolve_settings
from aaep.text.phrases import get_phrases


def test_without_anything_defaults_count_and_are_those_of_the_program() -> None:
    resolved = resolve_settings("", {}, {})
    assert resolved.settings == Settings() and resolved.problems == ()
    assert {source.kind for source in resolved.sources.values()} == {"default"}
    assert build_preferences(resolved.settings) == DEFAULT_PREFERENCES
    assert list_sounds(resolved.settings) == ()


def test_an_option_counts_before_the_environment_and_that_before_the_file() -> None:
    text = 'verbosity = "terse"\n[speech]\nrate = 300\nvolume = 50\n'
    environment = {"AAEP_VERBOSITY": "detailed", "AAEP_SPEECH_RATE": "400"}
    resolved = resolve_settings(text, environment, {"verbosity": "normal"})
    assert resolved.settings.verbosity == "normal"
    assert (resolved.settings.speech.rate, resolved.settings.speech.volume) == (400, 50)
    assert resolved.sources["verbosity"] == Source("option")
    assert resolved.sources["speech.rate"] == Source("environment", "AAEP_SPEECH_RATE")
    assert resolved.sources["speech.volume"] == Source("file", line=4)
    assert resolved.problems == ()


def test_every_setting_has_a_variable_of_its_own_and_says_what_it_is_for() -> None:
    names = [field.environment_name for field in FIELDS.values()]
    assert len({*names}) == len(names) and not {*names} & {"AAEP_SETTINGS", "AAEP_TOKEN", "AAEP_BROWSER"}
    for field in FIELDS.values():
        assert field.description and describe_expected(field)
        assert parse_value(field, field.default) == field.default


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("AAEP_LANGUAGES", "yo-NG, en", ("yo-NG", "en")),
        ("AAEP_SPEECH_ON", "yes", True),
        ("AAEP_SPEECH_ON", "0", False),
        ("AAEP_VERBOSITY", "Terse", "terse"),
        ("AAEP_TIME_EXTENSION", "3", 3.0),
        ("AAEP_SPEECH_VOICE", "Ada ", "Ada "),
        ("AAEP_SOUNDS_NEEDS_YOU_SOUND", "on", True),
        ("AAEP_DO_NOT_DISTURB", "true", True),
    ],
)
def test_the_environment_is_text_and_is_read_as_what_it_is_for(variable: str, text: str, value: object) -> None:
    field = next(field for field in FIELDS.values() if field.environment_name == variable)
    resolved = resolve_settings("", {variable: text}, {})
    assert resolved.values[field.key] == value and resolved.problems == ()


def test_what_cannot_be_used_is_told_with_its_line_and_does_not_count() -> None:
    text = 'verbosity = "loud"\nspeech.raet = 3\nlanguages = ["in English"]\nkeys = \n[limits]\nevents = true\n'
    resolved = resolve_settings(text, {"AAEP_SPEECH_RATE": "fast", "AAEP_SPEECH_VOLUME": "101"}, {})
    assert resolved.settings == Settings()
    assert resolved.problems == (
        "Line 1 of the settings does not count: verbosity has to be terse, normal or detailed.",
        "Line 2 of the settings names speech.raet, which is no setting. Did you mean speech.rate?",
        "Line 3 of the settings does not count: languages has to be a list of language tags such as en-GB.",
        "Line 4 of the settings cannot be read, and does not count: keys =",
        "Line 6 of the settings does not count: limits.events has to be a whole number from 0 to 100000.",
        "The variable AAEP_SPEECH_RATE does not count. It has to be a whole number from 60 to 900.",
        "The variable AAEP_SPEECH_VOLUME does not count. It has to be a whole number from 0 to 100.",
    )


@pytest.mark.parametrize(
    ("languages", "environment", "options"),
    [
        ('languages = ["ja"]\n', {}, {}),
        ("languages = 1\n", {"LANG": "ja_JP.UTF-8"}, {}),
        ('languages = ["de"]\n', {"AAEP_LANGUAGES": "ja,en"}, {}),
        ('languages = ["de"]\n', {"AAEP_LANGUAGES": "de"}, {"languages": ("ja-JP",)}),
    ],
)
def test_what_cannot_be_used_is_told_in_the_language_of_the_person(
    languages: str, environment: dict[str, str], options: dict[str, Any]
) -> None:
    phrases = get_phrases(("ja",))
    text = f"speech.rate = 0\n{languages}"
    told = resolve_settings(text, environment | {"AAEP_VERBOSITY": "loud"}, options).problems
    number = phrases.format("expected-whole_number", lowest=60, highest=900)
    assert told[0] == phrases.format("settings-value", line=1, setting="speech.rate", expected=number)
    words = phrases.format("expected-word", words=phrases.join(["terse", "normal"]), last="detailed")
    assert told[-1] == phrases.format("settings-variable", variable="AAEP_VERBOSITY", expected=words)


def test_a_file_that_does_not_count_is_told_in_the_language_that_counts_without_it(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('languages = ["de"]\n')
    path.chmod(0o666)
    resolved = load_settings(environment={"AAEP_SETTINGS": str(path), "LANG": "ja_JP.UTF-8"})
    assert resolved.languages == ("ja-JP",) and resolved.phrases is get_phrases(("ja",))
    assert resolved.problems == (resolved.phrases.format("settings-unsafe", file=str(path)),)


def test_many_mistakes_are_counted_and_not_all_told() -> None:
    problems = resolve_settings("nothing\n" * 50, {}, {}).problems
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1] == "45 more lines of the settings do not count."


def test_what_a_broken_line_contains_stays_on_its_line() -> None:
    (problem,) = resolve_settings("\x1b[2J\u202eevil " + "x" * 500, {}, {}).problems
    assert "\x1b" not in problem and "\u202e" not in problem and len(problem) < 200


def test_the_rules_for_coding_agents_are_left_to_others() -> None:
    resolved = resolve_settings('[[allow]]\ntool = "x"\n[allow.more]\ny = 1\n', {}, {})
    assert resolved.settings == Settings() and resolved.problems == ()


def test_accessible_asks_for_whole_lines_unless_something_else_is_said_here() -> None:
    assert resolve_settings("", {"ACCESSIBLE": "1"}, {}).settings.keys == "enter"
    assert resolve_settings("", {"ACCESSIBLE": "0"}, {}).settings.keys == "single"
    assert resolve_settings('keys = "single"', {"ACCESSIBLE": "1"}, {}).settings.keys == "single"
    assert resolve_settings("", {"ACCESSIBLE": "1", "AAEP_KEYS": "single"}, {}).settings.keys == "single"


def test_every_kind_of_sound_has_its_switches() -> None:
    text = "\n".join(f"sounds.{earcon}.sound = true" for earcon in EARCONS)
    settings = resolve_settings(text, {}, {}).settings
    assert list_sounds(settings) == EARCONS
    settings = resolve_settings("sounds.error.speech = false", {}, {}).settings
    switched_off = [earcon for earcon in EARCONS if not find_kind_settings(settings, earcon).speech]
    assert switched_off == ["error"]


def test_a_misspelt_name_is_an_error_that_lists_the_right_ones() -> None:
    with pytest.raises(
        UnknownSetting, match=r"no setting 'verbositty'. Did you mean verbosity\? There are: "
    ) as caught:
        find_field("verbositty")
    assert all(key in str(caught.value) for key in FIELDS)
    assert find_field("speech.RATE").key == "speech.rate"
    assert find_field("do_not_disturb").key == "do-not-disturb"
    assert get_args(find_field("keys").plain_kind) == ("single", "enter")


# -- the file --------------------------------------------------------------------------------


def test_where_the_file_is() -> None:
    home = Path.home()
    assert user_config_folder({}, "linux") == home / ".config" / "aaep"
    assert user_config_folder({"XDG_CONFIG_HOME": "relative"}, "linux") == home / ".config" / "aaep"
    assert user_config_folder({"XDG_CONFIG_HOME": "/c"}, "linux") == Path("/c/aaep")
    assert user_config_folder({}, "darwin") == home / "Library" / "Application Support" / "AAEP"
    assert user_config_folder({"APPDATA": "/roaming"}, "win32") == Path("/roaming/AAEP")
    assert (
        find_settings_file({"XDG_CONFIG_HOME": "/c"}) == user_config_folder({"XDG_CONFIG_HOME": "/c"}) / "settings.toml"
    )
    assert find_settings_file({"AAEP_SETTINGS": "~/mine.toml"}) == home / "mine.toml"


def test_a_new_file_and_its_folder_are_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.toml"
    change_setting(path, "speech.rate", 300)
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert path.read_text().startswith("# Settings of aaep.") and "rate = 300" in path.read_text()
    path.chmod(0o644)
    change_setting(path, "speech.rate", None)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "rate" not in path.read_text()
    assert [each.name for each in path.parent.iterdir()] == ["settings.toml"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text("# Mine.\n")
    path = tmp_path / "settings.toml"
    path.symlink_to(target)
    change_setting(path, "verbosity", "terse")
    assert path.is_symlink() and target.read_text() == '# Mine.\nverbosity = "terse"\n'


def test_a_file_that_others_can_write_does_not_count_and_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('verbosity = "terse"\n')
    path.chmod(0o666)
    resolved = load_settings(environment={"AAEP_SETTINGS": str(path)})
    assert resolved.settings == Settings()
    assert resolved.problems == (f"Other users can change {path}, so defaults count. Run chmod go-w on it.",)
    with pytest.raises(AaepError, match="Nothing was changed"):
        change_setting(path, "verbosity", "normal")
    assert path.read_text() == 'verbosity = "terse"\n'


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    named = {"AAEP_SETTINGS": str(tmp_path / "missing.toml")}
    assert load_settings(environment=named).problems == (
        f"There is no file {tmp_path}/missing.toml, so defaults count.",
    )
    assert load_settings(environment={"XDG_CONFIG_HOME": str(tmp_path)}).problems == ()
    assert "so defaults count" in read_settings_file(tmp_path).problem
    os.mkfifo(tmp_path / "pipe")
    assert "so defaults count" in read_settings_file(tmp_path / "pipe").problem
    (tmp_path / "latin.toml").write_bytes(b'verbosity = "terse"\nname = "J\xfcrgen"\n')
    assert read_settings_file(tmp_path / "latin.toml").problem.endswith("Line 2 has other characters than UTF-8.")
    (tmp_path / "mark.toml").write_bytes(b"\xef\xbb\xbfstates = true\r\nsigns = true\r\n")
    settings = load_settings(environment={"AAEP_SETTINGS": str(tmp_path / "mark.toml")}).settings
    assert settings.states and settings.signs


@pytest.mark.parametrize(("is_on", "names"), [(True, ["braille"]), (False, [])])
def test_a_braille_display_is_used_where_the_settings_say_so(is_on: bool, names: list[str]) -> None:
    settings = Settings(braille=BrailleSettings(on=is_on), languages=("yo-NG", "en"))
    assert [output.name for output in open_outputs(settings)] == names
