// Package chats has the commands about chats that were kept: list, show, search,
// branches, switch, rename, fork, compact, export, import, rm, restore and purge.
// It asks no model, but for compact, and holds nothing that the engine could.
//
// A chat is named by its number, its id or its title ([Ref]). What rm takes can
// come back for a time, what purge takes can't.
package chats
