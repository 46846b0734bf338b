// Package paths tells where fettle keeps its things. It only computes names:
// it reads no file, makes no folder and knows the environment only through
// the function that it is given.
//
// # Vocabulary
//
//   - Data: chats, blobs, journals, the store. Losing it loses work.
//   - Config: what the user writes: config.yaml, keys, prompts.
//   - State: what is worth keeping but not worth a backup, such as a history.
//   - Runtime: sockets; private to the user.
//   - Cache: what can be had again.
//
// # Where
//
// Linux and other Unix systems follow the XDG base directory specification.
// So does macOS: people who live in a terminal look under ~/.config, where
// git, gh, tmux and most tools of this kind keep their files there too, share
// those files between machines, and find "~/Library/Application Support" hard
// to type and to quote. Windows has %APPDATA%\fettle for the configuration,
// which roams with the user, and %LOCALAPPDATA%\fettle for the rest, which
// should not. An XDG variable that is set wins on every system; a relative one
// is ignored, as that specification demands.
//
// FETTLE_DATA and FETTLE_CONFIG win over all of it. FETTLE_DATA moves State
// and Cache below itself too, so that one variable is enough to keep a
// container, a test or a second user of the same account apart. FETTLE_CONFIG
// is a folder, or the file itself if its name ends in .yaml or .yml.
//
// Without $XDG_RUNTIME_DIR, Runtime is a folder in Data, never one in a shared
// temporary folder, where anyone could have made it first.
package paths
