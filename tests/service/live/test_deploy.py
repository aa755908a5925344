"""deploy/: every option exists, paths and ports agree, nothing runs as root, and the checks that can be run are run."""

import re
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml
from started import environment, started

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
UNIT = (DEPLOY / "vecuq.service").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())


@pytest.fixture(scope="module")
def known():
    """The help of `vecuq serve`, wide enough for every option."""
    shown = environment(COLUMNS="200", NO_COLOR="1", TERM="dumb")
    command = [sys.executable, "-m", "vecuq", "serve", "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=shown).stdout


def words_of(name):
    """The words of the JSON list after a name in the Dockerfile."""
    return yaml.safe_load(re.search(rf"^{name} (\[.*\])$", DOCKERFILE, re.MULTILINE).group(1))


def service_section():
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read_string(UNIT)
    return unit["Service"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_option_of_the_service_exists(path, known):
    text = path.read_text()
    ours = "\n".join(line for line in text.splitlines() if re.search(r"vecuq|--(allow|cert|work|grace|store)", line))
    others = {"--build", "--profile", "--detach", "--now", "--from", "--no-cache-dir", "--uid", "--user-group"}
    others |= {"--system", "--no-create-home", "--shell"}
    stated = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours)) - others
    assert {option for option in stated if not re.search(rf"{option}\b", known)} == set()


def test_the_command_of_the_image_and_of_the_unit_can_be_parsed(known):
    for words in ([*words_of("ENTRYPOINT"), *words_of("CMD")], shlex.split(service_section()["ExecStart"])):
        assert [Path(words[0]).name, words[1]] == ["vecuq", "serve"]
        assert words[2].endswith(".vecuq")
        assert [word for word in words[3::2] if not re.search(rf"{word}\b", known)] == []


def test_the_key_comes_from_the_variable_that_the_service_reads(known):
    assert "VECUQ_API_KEY" in known
    assert list(COMPOSE["services"]["vecuq"]["environment"]) == ["VECUQ_API_KEY"]
    assert COMPOSE["secrets"]["vecuq_key"] == {"environment": "VECUQ_API_KEY"}
    assert "ENV VECUQ" not in DOCKERFILE


def test_nothing_runs_as_root():
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("ENTRYPOINT")
    section = service_section()
    hardened = ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome")
    assert {section[name] for name in hardened} == {"yes"}
    assert section["ProtectSystem"] == "strict"
    assert section["StateDirectory"] == "vecuq"
    main = COMPOSE["services"]["vecuq"]
    assert (main["read_only"], main["cap_drop"], main["security_opt"]) == (True, ["ALL"], ["no-new-privileges:true"])


def test_what_the_image_is_built_from_is_there_and_not_ignored():
    copied = [words.split()[:-1] for words in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)]
    names = [name for names in copied for name in names]
    assert [name for name in names if not (ROOT / name).exists()] == []
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split("\n")
    assert {f"!{name}" for name in names} <= set(ignored)


def test_ports_and_folders_agree():
    words = words_of("CMD")
    port, store = words[words.index("--port") + 1], Path(words[words.index("--store") + 1])
    main = COMPOSE["services"]["vecuq"]
    assert f"EXPOSE {port}" in DOCKERFILE
    assert main["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert [place.split(":")[-2] for place in main["volumes"] if place.endswith(":ro")] == [str(Path(words[0]).parent)]
    assert f"store:{store.parent}" in main["volumes"]
    assert f"VOLUME {store.parent}" in DOCKERFILE
    assert [place.partition(":")[0] for place in main["tmpfs"]] == ["/tmp"]  # noqa: S108 - in the container
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scraped["static_configs"] == [{"targets": [f"vecuq:{port}"]}]
    assert scraped["authorization"]["credentials_file"] == "/run/secrets/vecuq_key"
    assert f"reverse_proxy 127.0.0.1:{port}" in (DEPLOY / "Caddyfile").read_text()


def test_requests_in_work_have_time_to_end(known):
    from vecuq.service import ServeSettings

    grace = ServeSettings({"m": Path("m")}).grace
    assert float(service_section()["TimeoutStopSec"]) > grace
    assert float(COMPOSE["services"]["vecuq"]["stop_grace_period"].rstrip("s")) > grace


@pytest.mark.nightly
def test_the_health_check_of_the_image_tells_a_service_from_none(saved):
    command = re.search(r"CMD (\[.*\])", DOCKERFILE[DOCKERFILE.index("HEALTHCHECK") :]).group(1)
    _, *words = yaml.safe_load(command)
    with started(saved) as service:
        words = [word.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}") for word in words]
        assert subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode == 0
    assert subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode != 0


def test_systemd_takes_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed, which verifies units")
    unit = tmp_path / "vecuq.service"
    unit.write_text(UNIT.replace("/opt/vecuq/bin/vecuq", "/bin/true"))
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")


def test_the_page_names_every_file():
    page = (DEPLOY / "README.md").read_text()
    ours = {path.name for path in FILES} - {"README.md", "Dockerfile.dockerignore"}
    assert {name for name in ours if f"]({name})" not in page} == set()
    assert max(map(len, page.splitlines())) <= 100
