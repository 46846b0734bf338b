// Package gitguard finds the git repositories in a folder, and sets aside those that a
// tool has added to it.
//
// Git runs programs that a repository names: hooks, file system monitors, filters. A tool
// that can write a repository into the user's folder therefore runs programs outside of
// its sandbox as soon as the user, an editor or a shell prompt runs git there. A sandbox
// at level full seals the repositories that exist, but it can't forbid a name in every
// folder, and level reduced seals nothing. So the engine calls [Scan] before a call and
// [Found.SetAside] after it.
//
// # What counts as a repository
//
//   - A name that git reads as .git on some system, in any letter case and spelling: a
//     folder that isn't empty, a file that names another folder, or a link.
//   - A folder of any name that git accepts as a repository: it has HEAD, and objects and
//     refs, or commondir. Git uses such a bare repository when it runs inside of it.
//
// Every folder is searched, including those that snapshots leave out. Links are not
// followed: a folder that a link leads to is found where it is.
//
// # What happens to them
//
// Nothing is deleted. A new .git gets another name, which makes it ordinary content that
// undo can remove; of a new bare repository HEAD gets another name, without which git
// doesn't accept the folder. Where a call changed what git runs of an existing repository
// (config, hooks and what redirects to others), the file from before is written again and
// the changed one gets another name. A repository that was moved out of its folder is moved
// back. One that was removed is reported: nothing has a copy of it.
//
// An [Index] makes repeated searches fast: it reads only folders that have changed.
//
// # Limits
//
// A repository is found after the call, so git may run in the moments before. Programs
// that the user's own configuration runs from ordinary files of the folder, such as a
// core.hooksPath in the work tree, are content like any build script.
//
// A [Found] is not changed after Scan and is safe for concurrent use.
package gitguard
