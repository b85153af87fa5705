/* Check all and Submit, for the notebook that is open: in JupyterLab's menu and in its command palette. And the course's
 * pictures follow its theme in a notebook, too, that is not trusted: the style sheet that comes with them is taken out there.
 *
 * This is what a build would make of an extension, written by hand: a container of webpack's module federation, with one
 * module. Both commands save the notebook, and call `rnncourse check` or `rnncourse submit` in a kernel of its own, so that
 * whatever the notebook's kernel is doing goes on.
 */
(() => {
  const COMMANDS = {
    check: {
      label: "Check all",
      caption: "Run a copy of this notebook from top to bottom, and say what would be graded",
      doing: "Checking the whole notebook …",
    },
    submit: {
      label: "Submit",
      caption: "Write the file to hand in, and say what is missing in it",
      doing: "Writing the file to hand in …",
    },
  };
  // As THEMES in rnncourse/plots/style.py says it of all pages.
  const THEMES = `
    [data-jp-theme-light] .rnncourse-figure { background: none !important; }
    [data-jp-theme-light="false"] .rnncourse-figure { filter: invert(1) hue-rotate(180deg) !important; }`;
  let shared;

  /** A module that JupyterLab shares with its extensions. */
  const use = async (name) => {
    const [found] = Object.values(shared[name]);
    return (await found.get())();
  };

  /** What `rnncourse COMMAND NOTEBOOK` prints, run by a kernel of the notebook's kind; `path` is as the server has it. */
  const run = async (services, command, path, kind) => {
    const slash = path.lastIndexOf("/");
    const program = [
      "import subprocess, sys",
      `_done = subprocess.run([sys.executable, "-m", "rnncourse.seat.cli", ${JSON.stringify(command)},`,
      `    ${JSON.stringify(path.slice(slash + 1))}], capture_output=True, text=True, encoding="utf-8",`,
      '    env={**__import__("os").environ, "PYTHONUTF8": "1"})',
      "print(_done.stdout or _done.stderr)",
    ].join("\n");
    const folder = path.slice(0, Math.max(slash, 0));
    const kernel = await services.kernels.startNew({ name: kind, path: folder });
    try {
      let said = "";
      const future = kernel.requestExecute({ code: program, store_history: false });
      future.onIOPub = ({ header, content }) => {
        if (header.msg_type === "stream") said += content.text;
        if (header.msg_type === "error") said += `${content.ename}: ${content.evalue}`;
      };
      await future.done;
      return said.trim();
    } finally {
      await kernel.shutdown();
      kernel.dispose();
    }
  };

  const makePlugin = async () => {
    const { ICommandPalette, Dialog, Notification, showDialog } = await use("@jupyterlab/apputils");
    const { IMainMenu } = await use("@jupyterlab/mainmenu");
    const { INotebookTracker } = await use("@jupyterlab/notebook");
    const { Menu, Widget } = await use("@lumino/widgets");

    const activate = (app, notebooks, palette, mainMenu) => {
      document.head.appendChild(document.createElement("style")).textContent = THEMES;
      const menu = new Menu({ commands: app.commands });
      menu.title.label = "Course";
      for (const [name, { label, caption, doing }] of Object.entries(COMMANDS)) {
        const command = `rnncourse:${name}`;
        app.commands.addCommand(command, {
          label,
          caption,
          isEnabled: () => notebooks.currentWidget !== null,
          execute: async () => {
            const { context, sessionContext } = notebooks.currentWidget;
            const path = app.serviceManager.contents.localPath(context.path);
            const kind = sessionContext.session?.kernel?.name ?? "python3";
            const note = Notification.emit(doing, "in-progress", { autoClose: false });
            let words;
            try {
              await context.save();
              words = await run(app.serviceManager, name, path, kind);
            } catch (error) {
              words = `${label} could not be run: ${error.message}`;
            } finally {
              Notification.dismiss(note);
            }
            const text = document.createElement("pre");
            text.textContent = words;
            text.style.whiteSpace = "pre-wrap";
            text.tabIndex = 0;
            const body = new Widget({ node: text });
            await showDialog({ title: label, body, buttons: [Dialog.okButton()] });
          },
        });
        palette?.addItem({ command, category: "Course" });
        menu.addItem({ command });
      }
      mainMenu?.addMenu(menu, false, { rank: 500 });
    };
    return {
      id: "rnncourse:commands",
      autoStart: true,
      requires: [INotebookTracker],
      optional: [ICommandPalette, IMainMenu],
      activate,
    };
  };

  (window._JUPYTERLAB ??= {}).rnncourse = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const plugin = await makePlugin();
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
