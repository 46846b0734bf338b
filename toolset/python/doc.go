// Package python runs the Python functions of toolsets: one process a call, in
// a sandbox, with one of them ready for the next call. It is not a Python of
// its own: it uses the interpreter that the machine has, 3.9 or later, and says
// what to do where there is none. It decides no policy, asks nobody, and knows
// nothing of manifests and bundles; processes come from a [toolset.Launcher].
//
// # What a tool is
//
// A function in a file of the toolset. It is called in one of two forms. A
// function with exactly the parameters (params, db, user_id, context) is called
// as document 000 has it: params are the arguments, db is None, user_id is 0,
// and context is a dict of chat_id, workspace, page and tab. Any other is called
// as document 004 has it: with workspace= and the arguments by name; where the
// first parameter has another name, it gets the workspace. A function whose
// parameters are all arguments is called without it, as document 003 has it. The workspace is a
// pathlib.Path, absolute, and the folder that the process is in.
//
// It gives a dict, a str, or a ToolResult with text, data, workspace_payload
// and payload; a dataclass counts as a dict. It may be async. A generator,
// async or not, sends what it yields as progress; its result is what it returns,
// else the last value that is no ToolProgress.
//
// ToolResult and ToolProgress are in the module fettle, which can always be
// imported, and under the names that documents 000 and 001 have them in,
// backend.tools.registry and tools.registry (and registry), unless the toolset
// has such a module itself. Classes of those names with the same attributes do
// as well. fettle.toolset_dir() and fettle.assets_dir() are the toolset's
// folders.
//
// Modules of the toolset are importable from its root and from tools/; Python's
// own modules come first. Without requirements there are no others. Standard
// input is at its end, and what is printed is kept apart from the result. When
// the result is there, the process is ended: threads, other processes and exit
// handlers of the tool end with the call.
//
// # Services
//
// A tool whose [Spec] says Service has one process in each chat, which lives on after
// the call: what the tool began, such as a server in a thread, goes on, and the next
// call comes to the same process, one after the other. Each has tokens of its own. The
// process is alone in its network where the sandbox is full; its results name the
// ports that may be reached ([Runtime.DialService]), by port or url in their data. It
// ends with the runtime, when it is told to, when nobody has used it for
// [ServiceIdle], when another needs its place ([MaxServices], [MaxChatServices]), when
// a call of it is cancelled or takes too long, and when its first call fails. A call
// that has to start it anew says so in its text.
//
// # What becomes of values that JSON doesn't have
//
// NaN and infinities become null, integers of more than 53 bits become strings,
// lone surrogates become U+FFFD; tuples, sets and other sequences become arrays
// (sets in order), mappings and dataclasses objects, an Enum its value, a path a
// string, dates and times their ISO form, a timedelta its seconds, Decimal,
// Fraction and UUID strings, numpy's scalars and arrays what their tolist gives.
// Keys that are numbers, None, booleans, paths, dates or Enums become strings as
// they do with Python's json; two that become the same are an error. So are
// bytes, anything else, more than 200 levels, a value that contains itself, and
// a result of more than 4 MiB; the message says where it is.
//
// # The channel
//
// The process takes its standard input and output away before it loads the
// tool, and sends frames: a length, a token, JSON. The tokens of a call are
// random, one for what goes before the end and one for the end. What a tool
// writes into the channel without them ends the call with an error. A tool that
// searches the interpreter's memory for them can lie about its own result alone,
// which it could have given as well: a process never serves a second call, but for
// a service, whose calls are one tool's in one chat.
//
// # Spares
//
// After a call another process is started with the same policy, folder and
// workspace, and waits, with the modules of Python's own that the call had
// imported, and with the toolset's files that it had loaded as code, of which
// nothing is run before the next call. Each is held against the file then, and
// compiled again where that has changed. A spare serves one call with the same
// folders, as they were: one that was replaced meanwhile is another. At most
// [MaxSpares] wait, each for [Options.SpareIdle].
//
// # Compiled files
//
// Of a toolset with more than some five hundred lines the cache keeps the files
// compiled, in a folder that is named by their contents and the interpreter. A
// process in a sandbox makes them, which sees the texts and runs none of them;
// what it made is copied and hashed, and the hashes are checked once in each
// program before it is used. Tools can read the folder and not write it. Python
// takes a compiled file only where the hash of the source's text is in it, and
// compiles for itself otherwise: nothing depends on this cache but time. It is
// filled beside or after a first call.
//
// # Requirements
//
// A toolset's packages are in a virtual environment in the cache, named by the
// interpreter and the requirements, which is made once, whole or not at all,
// from wheels alone, so that no code of a package runs. Where the requirements
// have hashes, pip is held to them; either all have or none. Nothing else has
// the network for it. Where it can't be made, the toolset's tools say why and
// work when it can. Calls hold a shared lock on their environment, so that
// [Prune] removes what no installed toolset needs and nobody uses.
//
// A [Runtime] and its runners are safe for concurrent use. [Runtime.Close] ends
// the spares and waits for what is running.
package python
