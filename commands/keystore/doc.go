// Package keystore finds the key of a provider, and keeps the keys that people give
// it. It knows no flags and no terminal: who is asked whether a command may
// run, and where warnings go, is said by functions that it is given.
//
// # Where a key comes from
//
// The first of these that has one:
//
//  1. the provider's variable (key_env);
//  2. `key` in the configuration: the key itself, or ! and a command that
//     prints it on its first line;
//  3. what `fettle keys set` has kept: in the system's keyring, or in keys.yaml
//     in the configuration directory.
//
// Nothing is looked for before the first request wants it, and no command is
// run and no keyring is asked for a provider that has none.
//
// # Vocabulary
//
//   - The file: keys.yaml. It holds keys, and the names of those that are kept
//     in the keyring, so that listing and looking up need no keyring for a name
//     that isn't there. A key in a file that others can read isn't used.
//   - The keyring: the Secret Service of a session bus, the macOS keychain, the
//     Windows credential manager. Any failure of it, or one that takes too
//     long, ends its use by this process with one warning.
//   - Ends: the last four characters of a long key, to tell keys apart.
//
// # Promises
//
// No error, warning or listing holds a key. A command's text is given to Allow
// alone, since it may hold one; it runs only when Allow agrees, through the
// shell, with nothing to read and without the variables that hold keys of
// providers, for a bounded time. What it printed is kept in memory for a quarter
// of an hour, since such keys may be short-lived.
//
// A Keys may be used by several goroutines; one command runs at a time for a
// provider, and the others wait for its result. A keyring that hangs leaves one
// goroutine behind until it answers: its library can't be interrupted.
package keystore
