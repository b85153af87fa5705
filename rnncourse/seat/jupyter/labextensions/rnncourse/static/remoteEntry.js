/* The course's menu, for the notebook that is open: Check all, Submit, Go on where I stopped. A check that runs the answer's
 * cell first, if that says something else than when it last ran, so that the verdict is on what one sees. The buttons of a
 * card. And the course's pictures follow the theme in a notebook, too, that is not trusted: the style sheet that comes with
 * them is taken out there.
 *
 * This is what a build would make of an extension, written by hand: a container of webpack's module federation, with one
 * module. Check all and Submit save the notebook, and call `rnncourse check` or `rnncourse submit` in a kernel of its own, so
 * that whatever the notebook's kernel is doing goes on. In a browser without a server (lite/) the notebook's own kernel does
 * it; there unit 00 is opened, and a notebook that was kept is brought to a new release.
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
    [data-jp-theme-light="false"] .rnncourse-figure { filter: invert(1) hue-rotate(180deg) !important; }
    .rnncourse-asks { display: inline-block !important; }
    .rnncourse-typed { display: none !important; }`;
  const GO_ON = "Go on where I stopped";
  const STUB = /^[ \t]*raise NotImplementedError/m; // as rnncourse/seat/names.py knows what was given out
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

  // --- cells

  const textOf = (cell) => cell.model.sharedModel.getSource();
  const given = (cell) => cell.model.getMetadata("nbgrader") ?? {};
  const isAnswer = (cell) => cell.model.type === "code" && given(cell).solution === true;
  const isExperiment = (cell) => (cell.model.getMetadata("tags") ?? []).includes("experiment");

  /** What each cell said when it last ran, for as long as its kernel lives. */
  const ran = new WeakMap();
  const ranIn = (session) => {
    if (!ran.has(session)) {
      const forget = () => ran.set(session, new WeakMap());
      forget();
      session.kernelChanged.connect(forget);
      session.statusChanged.connect((_, status) => status.endsWith("restarting") && forget());
    }
    return ran.get(session);
  };

  /** Run a cell; what stops it does not stop what comes behind it. */
  const runOn = async (CodeCell, cell, session) => {
    ranIn(session).set(cell.model, textOf(cell));
    const tags = [...(cell.model.getMetadata("tags") ?? []), "raises-exception"];
    await CodeCell.execute(cell, session, { tags, deletedCells: [] });
  };

  /** When a check is about to be run: run its answer's cell first, if that says something else than when it last ran. */
  const runAnswerFirst = (CodeCell, notebook, check, session) => {
    ranIn(session).set(check.model, textOf(check));
    const { grade, grade_id } = given(check);
    if (!grade || check.model.type !== "code") return;
    for (const cell of notebook.widgets) {
      if (!isAnswer(cell) || `check_${given(cell).grade_id}` !== grade_id) continue;
      const before = ranIn(session).get(cell.model);
      // what was given out and never run stays so: the answer may stand in a cell of the student's own
      if (before !== textOf(cell) && !(before === undefined && STUB.test(textOf(cell)))) void runOn(CodeCell, cell, session);
    }
  };

  /** What a piece of code shows in the notebook's own kernel, as outputs. */
  const outputsOf = async (session, code) => {
    const outputs = [];
    const future = session.session.kernel.requestExecute({ code, store_history: false, stop_on_error: false });
    future.onIOPub = ({ header: { msg_type }, content }) => {
      if (msg_type === "stream" || msg_type === "error") outputs.push({ output_type: msg_type, ...content });
      if (msg_type === "display_data" || msg_type === "execute_result")
        outputs.push({ output_type: "display_data", data: content.data, metadata: content.metadata });
    };
    await future.done;
    return outputs;
  };

  const printedBy = async (session, code) =>
    (await outputsOf(session, code)).map((output) => output.text ?? "").join("").trim();

  /** The setup and all that is the student's own, without experiments; then to the first exercise that is open. */
  const goOn = async (CodeCell, { content, sessionContext }) => {
    for (const cell of content.widgets) {
      const isCheck = given(cell).grade === true;
      if (cell.model.type !== "code" || isCheck || isExperiment(cell) || STUB.test(textOf(cell))) continue;
      await runOn(CodeCell, cell, sessionContext);
    }
    const names = content.widgets.filter(isAnswer).map((cell) => given(cell).grade_id);
    const ask = `print(__import__("rnncourse.seat.notebook").seat.notebook.first_open(${JSON.stringify(names)}))`;
    const open = await printedBy(sessionContext, ask);
    const isOpen = (cell) => given(cell).solution === true && (open ? given(cell).grade_id === open : given(cell).grade);
    const at = content.widgets.findIndex(isOpen);
    if (at < 0) return;
    let head = at;
    while (head > 0 && !/^#{2,4} /.test(textOf(content.widgets[head]))) head -= 1;
    content.mode = "command";
    content.activeCellIndex = at;
    content.deselectAll();
    await content.scrollToItem(head, "start");
  };

  // --- in a browser without a server

  const SEAT = "rnncourse.seat.in_browser";
  const FIRST = "00_welcome.ipynb";

  /** What a function of `seat/in_browser.py` gives, run by the notebook's own kernel. */
  const ask = async (session, name, ...given) => {
    const words = given.map((word) => JSON.stringify(word)); // Python reads such a text as it stands
    return JSON.parse(await printedBy(session, `print(__import__("${SEAT}").seat.in_browser.${name}(${words.join(", ")}))`));
  };

  const HERE = {
    /** Run all that is graded in the notebook itself. */
    check: async (CodeCell, { content, context, sessionContext }) => {
      const open = content.widgets.filter((cell) => isAnswer(cell) && STUB.test(textOf(cell)));
      const skipped = new Set(open.flatMap((cell) => [given(cell).grade_id, `check_${given(cell).grade_id}`]));
      for (const cell of content.widgets) {
        if (cell.model.type !== "code" || isExperiment(cell) || skipped.has(given(cell).grade_id)) continue;
        await runOn(CodeCell, cell, sessionContext);
      }
      const stem = context.path.split("/").pop().replace(/\.ipynb$/, "");
      return { words: await printedBy(sessionContext, `print(__import__("rnncourse").progress(${JSON.stringify(stem)}))`) };
    },
    submit: async (_, { context, sessionContext }) => {
      const made = await ask(sessionContext, "hand_in", JSON.stringify(context.model.toJSON()), context.path);
      const text = JSON.stringify(made.notebook, null, 1);
      return { words: made.said, file: made.file, href: URL.createObjectURL(new Blob([text], { type: "application/json" })) };
    },
  };

  /** What a cell of the course was given out as, as `seat/carry.py` knows it. */
  const identity = ({ id, metadata: { nbgrader } }) => (nbgrader ? `${nbgrader.grade_id} ${nbgrader.checksum}` : id);

  /** Offer to bring a notebook that this browser keeps to the release that the site has. */
  const offerRelease = async ({ Notification }, contents, base, { context, sessionContext }) => {
    await context.ready;
    await sessionContext.ready;
    const found = await fetch(`${base}files/${context.path}`, { cache: "no-cache" });
    if (!found.ok) return;
    const release = await found.text();
    const mine = new Set(context.model.toJSON().cells.map(identity));
    if (JSON.parse(release).cells.every((cell) => mine.has(identity(cell)))) return;
    const bring = async () => {
      const before = context.model.toJSON();
      const { notebook, said, kept } = await ask(sessionContext, "bring", JSON.stringify(before), release);
      const path = context.path.replace(/\.ipynb$/, `-${kept}.ipynb`);
      await contents.save(path, { type: "notebook", format: "json", content: before });
      context.model.fromJSON(notebook);
      await context.save();
      Notification.info(`${said} As it was, it is ${path}.`, { autoClose: false });
    };
    const actions = [{ label: "Bring my work into it", callback: () => void bring() }];
    Notification.info("There is a new release of this unit.", { autoClose: false, actions });
  };

  /** What a card's buttons ask for; their names are all that is taken from the page. */
  const ASKED = {
    where: (name) => `__import__("rnncourse").where(${name})`,
    solution: (name) => `__import__("rnncourse").solution("${name}")`,
  };
  const press = async (notebooks, button) => {
    const [verb, name] = button.dataset.rnncourse.split(" ");
    const panel = notebooks.find(({ node }) => node.contains(button));
    const cell = panel?.content.widgets.find(({ node }) => node.contains(button));
    if (!cell?.outputArea || !Object.hasOwn(ASKED, verb) || !/^[A-Za-z_]\w*$/.test(name)) return;
    button.disabled = true;
    button.textContent = "Looking …";
    const outputs = await outputsOf(panel.sessionContext, ASKED[verb](name));
    if (verb === "where") cell.outputArea.model.clear();
    else button.remove();
    for (const output of outputs) cell.outputArea.model.add(output);
  };

  const makePlugin = async () => {
    const { ICommandPalette, Dialog, Notification, showDialog } = await use("@jupyterlab/apputils");
    const { CodeCell } = await use("@jupyterlab/cells");
    const { IMainMenu } = await use("@jupyterlab/mainmenu");
    const { INotebookTracker, NotebookActions } = await use("@jupyterlab/notebook");
    const { PageConfig } = await use("@jupyterlab/coreutils");
    const { Menu, Widget } = await use("@lumino/widgets");
    const isHere = PageConfig.getOption("rnncourseInBrowser") === "true";

    /** Offer to go on, in the notebook that is looked at, if it has answers and its kernel has run nothing yet. The offer
     * goes when another notebook is looked at or a cell is run. Closed, it does not come back.
     */
    const closed = new WeakSet();
    let withdraw = () => {};
    const offer = async (notebooks, panel) => {
      withdraw();
      if (panel === null || closed.has(panel)) return;
      await panel.context.ready;
      await panel.sessionContext.ready;
      const { content, sessionContext } = panel;
      if (!content.widgets.some((cell) => isAnswer(cell) && !STUB.test(textOf(cell)))) return;
      if (!sessionContext.session?.kernel) return;
      if ((await printedBy(sessionContext, 'print("check" in globals())')) !== "False") return;
      if (notebooks.currentWidget !== panel) return;
      withdraw();
      const actions = [{ label: GO_ON, callback: () => void goOn(CodeCell, panel) }];
      const words = "Your answers are here, and not run yet.";
      const note = Notification.emit(words, "info", { autoClose: false, actions });
      const onRun = (_, { notebook }) => notebook === content && withdraw();
      withdraw = () => {
        if (!Notification.manager.has(note)) closed.add(panel);
        Notification.dismiss(note);
        NotebookActions.executionScheduled.disconnect(onRun);
        withdraw = () => {};
      };
      NotebookActions.executionScheduled.connect(onRun);
    };

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
            let words, file, href;
            try {
              await context.save();
              if (isHere) ({ words, file, href } = await HERE[name](CodeCell, notebooks.currentWidget));
              else words = await run(app.serviceManager, name, path, kind);
            } catch (error) {
              words = `${label} could not be run: ${error.message}`;
            } finally {
              Notification.dismiss(note);
            }
            const text = document.createElement("pre");
            text.textContent = words;
            text.style.whiteSpace = "pre-wrap";
            text.tabIndex = 0;
            const node = document.createElement("div");
            node.append(text);
            file ??= words.match(/[\w-]+-submission\.ipynb(?=\S* is the file)/)?.[0];
            if (file) {
              const link = node.appendChild(document.createElement("a"));
              const folder = path.slice(0, path.lastIndexOf("/") + 1);
              link.href = href ?? (await app.serviceManager.contents.getDownloadUrl(folder + file));
              link.download = file;
              link.textContent = `Download ${file}`;
              link.style.textDecoration = "underline";
            }
            const body = new Widget({ node });
            await showDialog({ title: label, body, buttons: [Dialog.okButton()] });
          },
        });
        palette?.addItem({ command, category: "Course" });
        menu.addItem({ command });
      }
      const command = "rnncourse:go-on";
      app.commands.addCommand(command, {
        label: GO_ON,
        caption: "Run the setup and your answers, without the experiments, and go to the first exercise that is open",
        isEnabled: () => notebooks.currentWidget !== null,
        execute: () => goOn(CodeCell, notebooks.currentWidget),
      });
      palette?.addItem({ command, category: "Course" });
      menu.insertItem(0, { command });
      NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
        const panel = notebooks.find(({ content }) => content === notebook);
        if (panel) runAnswerFirst(CodeCell, notebook, cell, panel.sessionContext);
      });
      notebooks.currentChanged.connect((_, panel) => void offer(notebooks, panel));
      if (isHere) {
        const { contents } = app.serviceManager;
        notebooks.widgetAdded.connect((_, panel) => void offerRelease({ Notification }, contents, PageConfig.getBaseUrl(), panel));
        void app.restored.then(() => {
          if (innerWidth < 600) app.shell.collapseLeft();
          if (notebooks.size === 0 && !location.search.includes("path=")) void app.commands.execute("docmanager:open", { path: FIRST });
        });
      }
      document.addEventListener("click", ({ target }) => {
        const button = target instanceof Element ? target.closest("button[data-rnncourse]") : null;
        if (button) void press(notebooks, button);
      });
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
