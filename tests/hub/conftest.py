"""The settings of JupyterHub are no module: they are run by it."""

collect_ignore = ["jupyterhub_config.py"]
