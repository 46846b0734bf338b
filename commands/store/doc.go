// Package store has the commands about the data directory as a whole: what it
// holds, whether it is sound, what can go, its backup and a backup's return. The
// store itself is the engine's, which also says what of it is durable when.
package store
