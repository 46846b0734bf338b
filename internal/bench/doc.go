// Command bench prints fettle's speed as ratios to a floor that is measured in the same run: a
// bare program that does the same work and nothing else. Absolute times say little on a shared
// machine, so tests never assert them; run this before and after changing a hot path.
//
//	go run ./internal/bench ask      one question, streaming, opening the store
//	go run ./internal/bench chat     the next question of a long chat (fills stores for some minutes)
//	go run ./internal/bench chat-term  the page of fettle chat on a pseudo-terminal (about a minute)
//	go run ./internal/bench chats    searching ten thousand chats (fills a store for some minutes)
//	go run ./internal/bench growth   how costs grow with chats and messages (some minutes)
//	go run ./internal/bench cas      snapshots, restores and landings, next to git
//	go run ./internal/bench tools    importing and validating bundles
//	go run ./internal/bench sandbox  what containing a process costs
//	go run ./internal/bench serve    a thousand clients of a hundred turns (some minutes)
//
// For serve the floor is a bare reverse proxy of net/http/httputil that passes as many streams
// of the same frames. A client checks that it has every event once and in order; each carries
// the time at which the model, or the proxy's upstream, sent it. With events that arrive at the
// model's pace, delays and the server's CPU for each event are compared; with events as fast as
// they are taken, how many go through. The proxy has one upstream stream for each client, which
// the clients' process writes, so events per CPU second compare the servers alone. Memory is
// what /proc/PID/smaps_rollup calls anonymous, so that figure is Linux's.
//
// Programs are built into a temporary folder, run in turn (A B C A B C …) after one warm-up,
// and the medians are printed. Peak memory is what the operating system reports for the ended
// process.
package main
