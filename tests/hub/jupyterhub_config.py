"""A JupyterHub on this machine alone, for the test: anybody may log in, with any password, and nobody is kept from
anybody's files. What its servers have in common with those of a real one is the name of their account, by which
nbgrader knows who submits: in Docker's stacks all are called jovyan, and then the Hub's own name counts.

HUB is the folder that all of it lies in, PORTS three ports that are free.
"""

import os
import sys
from pathlib import Path

c = get_config()  # type: ignore[name-defined]

here = Path(os.environ["HUB"])
public, hub, proxy = (f"http://127.0.0.1:{port}" for port in os.environ["PORTS"].split())

c.JupyterHub.bind_url = public
c.JupyterHub.hub_bind_url = hub
c.ConfigurableHTTPProxy.api_url = proxy
c.JupyterHub.db_url = f"sqlite:///{here / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(here / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(here / "proxy.pid")
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(here / "homes" / "{username}")

accounts = here / "passwd"
accounts.write_text(f"jovyan:x:{os.getuid()}:{os.getgid()}::/:/bin/bash\n")
# Without --die-with-parent, servers go on when the Hub is gone.
as_jovyan = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--ro-bind", str(accounts), "/etc/passwd"]
c.Spawner.cmd = [*as_jovyan, sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root"] if os.getuid() == 0 else []
c.Spawner.environment = {"JUPYTER_CONFIG_PATH": str(here / "etc")}
c.Spawner.default_url = "/lab"
c.Spawner.http_timeout = c.Spawner.start_timeout = 600  # the machine may be busy
