// Package recordtest walks the texts of record types, for tests that each of them is
// bounded where it is stored.
//
// It does not choose the texts and stores nothing: the tests do. A record is as it was when
// a walk has ended, and walks of different records may run at the same time.
package recordtest
