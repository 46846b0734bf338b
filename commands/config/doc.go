// Package config reads the configuration: the user's file, the project's file, profiles of
// these, the environment and the flags, into one plain struct; and it changes the user's file.
// It is the only package that uses viper, and nothing of viper leaves it. It does not prompt
// the user, and runs nothing.
//
// # Sources, weakest first
//
//  1. the defaults, in the table of [Settings];
//  2. the user's file, $XDG_CONFIG_HOME/fettle/config.yaml;
//  3. the project's file, .fettle/config.yaml in the working directory or a
//     folder above it, up to the repository's root or to below the home;
//  4. the profile in force, `profiles.NAME` of the user's file, then of the project's: a user
//     who chooses one expects it to apply, whatever a project sets;
//  5. the environment: other programs' variables that mean the same
//     (OLLAMA_HOST), then FETTLE_*, which each scalar has;
//  6. the flags that were given.
//
// A stronger source replaces a value; entries of the maps (providers, models)
// are merged field by field. Three lists add up instead (allow, deny and ask),
// since a rule that forbids must not vanish because another file has rules too.
// NO_COLOR turns the colour setting `auto` into `never` and leaves the explicit
// ones alone. A variable that is empty is not set, and neither is a key without
// a value.
//
// A profile holds what a file may hold, but no profiles. It is chosen by `profile`,
// FETTLE_PROFILE or --profile, the last of these that is set; an empty --profile chooses none.
// All profiles are checked, chosen or not.
//
// # What a project may not set
//
// A project's file comes with the project, from its author. It is data only: what could run
// something or send something elsewhere (providers, ollama.host, allow, profile, a script/
// model) and what instructs a model (system, agents) is checked and held back, with one
// warning, until the user trusts the file ([Options].Trusted; package trust remembers it by
// digest). [Project].Grants is what it requests, as it was read. What isn't a project's
// business (color, prices) is an error there, trusted or not. A project may narrow the tools,
// never widen them. Above the working directory a file counts only inside a repository or the
// home, and not in a folder that strangers may write to, so that a file planted in /tmp does
// nothing.
//
// # Changing the user's file
//
// [UserFile] sets, adds, takes out and replaces. Only the entry that is meant
// changes (package yamledit), the new text must load as the old one had to, and
// the file is replaced as a whole under a lock (package wholefile). How a dotted
// path is read is written down at [Key].
//
// # Errors
//
// A file is read strictly: unknown and doubled keys, wrong types, tags, merge keys and alias
// bombs are problems, each with line, column, an excerpt, what was expected and the nearest
// known key. All problems of all sources come at once, as an [Error] inside a fault. A missing
// file is not a problem.
//
// # Secrets
//
// Keys and header values are [Secret]s, which print as "[redacted]" however
// they are printed. No message or excerpt holds a value below `providers`, the
// value of an unknown key, or what looks like a key elsewhere. A key may be ! and
// a command that prints it; here it is only read, and package keys runs it.
//
// # Names
//
// The keys of maps (providers, models, prices, headers) are taken from the YAML nodes
// as they are written: viper would lower-case them and split them at dots, and
// `Qwen2.5-Coder:7B` must stay what it is. viper merges the settings of the
// table alone, under flat names.
//
// Load holds no state and is safe for concurrent use; a Config isn't changed
// once it is returned.
package config
