// Package demodata holds what `fettle demo` needs: for its conversation
// demo.yaml, the script that plays the agents of the gallery's toolset chaoscontext; for its
// scene with files orders.csv, which the model is asked about, and files.yaml; for
// the page of fettle serve --demo haiku.yaml as well.
// The files are the whole of it, embedded; commands runs the turns. The
// tests here add up orders.csv and check every number that the model claims.
package demodata
