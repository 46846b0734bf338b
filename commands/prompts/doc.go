// Package prompts has the command prompts: list, show, new, edit, rm and path of the
// named prompts in the user's library and the project's. What a prompt's file is and
// how it is filled is package engine/prompts; asking one is the command ask.
package prompts
