package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	allow := flag.String("allow", "", "the `FILE` that lists what is borne")
	flag.Parse()
	ok, err := gate(os.Stdin, *allow, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vulngate:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// gate reads a report, prints what it means, and tells whether it passes.
func gate(in io.Reader, allowFile string, out io.Writer) (bool, error) {
	list, err := readAllowFile(allowFile)
	if err != nil {
		return false, err
	}
	rep, err := readReport(in)
	if err != nil {
		return false, fmt.Errorf("read the report: %w", err)
	}
	return judge(rep, list).print(out)
}
