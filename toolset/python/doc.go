// Package python runs the Python tools of toolsets: document 004's section 4,
// with the call and return forms of document 000 and 001 beside it.
//
// It starts processes through a [toolset.Launcher] and decides nothing about
// what they may reach: the caller's policy does. It reads no manifest.
//
// # A call
//
// Each call is a process of its own, which ends with it. It runs runner.py, which
// takes the pipes to fettle away before any of the tool's code is loaded, reads
// one request, calls the function, and answers with frames. Whatever the tool
// prints is kept as output and can't be taken for a frame by accident: each
// frame carries the key of its call. A tool that goes looking for pipe and key
// can lie about its own result, as it could by returning one, and about no
// other.
//
// # What a function may be
//
//   - `run(workspace, **arguments)`, document 004's. A function without a
//     parameter of that name is called without it.
//   - A function with exactly the parameters (params, db, user_id, context),
//     document 000's: db and user_id are None, context has chat_id, workspace,
//     page and tab.
//
// It may be async, a generator or an async generator. What a generator gives is
// progress where it is a ToolProgress or a text; its return value is the result,
// or the last other thing that it gave.
//
// # What it may return
//
// A dict; a str; or a ToolResult. ToolProgress, ToolResult and report (progress
// of tools that are no generators) come from the module `fettle`, which can
// always be imported; `tools.registry`, where document 000 has them, is the
// same unless the toolset has one. Sets become lists in order, paths and dates
// texts, numpy's numbers and arrays plain ones, NaN and infinity null, integers
// past 2^53 texts; the last two leave a note. Bytes, circles and anything else
// are an error that names the place.
//
// # Modules
//
// The bundle's root and its tools folder come after Python's own modules, so
// that `tools.analyze` and `analyze` are both found and nothing of Python's can
// be replaced. A module that turns out to lie outside the toolset is refused.
// Requirements are installed from wheels alone, since anything else runs code,
// into a folder that their hash and the interpreter's version name. They are
// found on sys.path; .pth files are not heeded.
//
// # Spares
//
// After a call a process of the same policy is started for the next one, with
// what tools commonly import loaded and nothing of the toolset. It waits for a
// minute. It has seen nothing of any call.
//
// # Speed
//
// The runner imports nothing that a call doesn't need: its reader and writer of
// JSON stand on the C functions below Python's json, whose import alone takes
// longer than a call. It is compiled once for each interpreter.
//
// A Runtime and its runners are safe for concurrent use. Close ends the spares;
// nothing outlives it.
package python
