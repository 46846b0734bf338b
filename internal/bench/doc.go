// Command bench prints fettle's speed as ratios to a floor that is measured in
// the same run: a bare program that does the same with nothing around it.
// Absolute times say little on a shared machine, so tests never assert them;
// whoever changes a hot path runs this before and after.
//
//	go run ./internal/bench ask      one question, streaming, opening the store
//	go run ./internal/bench chat     the next question of a long chat (fills stores for some minutes)
//	go run ./internal/bench chat-term  the page of fettle chat on a pseudo-terminal (about a minute)
//	go run ./internal/bench chats    searching ten thousand chats (fills a store for some minutes)
//	go run ./internal/bench cas      snapshots and restores, beside git
//	go run ./internal/bench tools    importing and validating bundles
//	go run ./internal/bench sandbox  what containing a process costs
//
// Programs are built into a temporary folder, run in turn (A B C A B C …)
// after one warm-up, and the medians are printed. Peak memory is what the
// operating system says of the ended process.
package main
