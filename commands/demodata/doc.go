// Package demodata holds what `fettle demo` needs: demo.yaml, the script that
// plays its model, and orders.csv, the file that the model is asked about. The
// files are the whole of it; commands embeds them and runs the turn. The test
// here adds up orders.csv and checks every number that the model claims.
package demodata
