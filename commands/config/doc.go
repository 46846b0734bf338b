// Package config reads the configuration: the user's file, the project's
// file, the environment and the flags, into one plain struct. It is the only
// package that uses viper, and nothing of viper leaves it.
//
// # Sources, weakest first
//
//  1. the defaults, in the table of [Settings];
//  2. the user's file, $XDG_CONFIG_HOME/fettle/config.yaml;
//  3. the project's file, .fettle/config.yaml in the working directory or a
//     folder above it, up to the repository's root or to below the home;
//  4. the environment: other programs' variables that mean the same
//     (OLLAMA_HOST), then FETTLE_*, which each scalar has;
//  5. the flags that were given.
//
// A stronger source replaces a value. Three lists add up instead (allow, deny
// and ask), since a rule that forbids must not vanish because another file has
// rules too. NO_COLOR turns the colour setting `auto` into `never` and leaves
// the explicit ones alone. A variable that is empty is not set, and neither is
// a key without a value.
//
// # What a project may not say
//
// A project's file comes with the project, from whoever wrote it. It is data
// only: a key that could run something or send something elsewhere is an error
// there (providers, ollama.host, allow, a script/ model), and so is one that
// isn't a project's business (color). A project may narrow the tools, never
// widen them. Above the working directory a file counts only inside a
// repository or the home, and not in a folder that strangers may write to, so
// that a file planted in /tmp does nothing.
//
// # Errors
//
// A file is read strictly: unknown and doubled keys, wrong types, tags, merge
// keys and alias bombs are problems, each with line, column, an excerpt, what
// was expected and the nearest known key. All problems of all sources come at
// once, as an [Error] inside a fault. A missing file is none.
//
// # Secrets
//
// Keys and header values are [Secret]s, which print as "[redacted]" however
// they are printed. No message or excerpt holds a value below `providers`, the
// value of an unknown key, or what looks like a key elsewhere.
//
// # Names
//
// The keys of maps (providers, models, headers) are taken from the YAML nodes
// as they are written: viper would lower-case them and split them at dots, and
// `Qwen2.5-Coder:7B` must stay what it is. viper merges the settings of the
// table alone, under flat names.
//
// Load holds no state and is safe for concurrent use; a Config isn't changed
// once it is returned.
package config
