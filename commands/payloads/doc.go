// Package payloads has the command payloads: the structured data that a chat's
// answers and calls came to, what a person decides about it, and the types that there
// are. What an accepted payload does, a call say, is the engine's.
package payloads
