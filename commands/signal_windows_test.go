package commands_test

import "os"

// Windows can't send a console signal to a single process of a test.
func endingSignals() []os.Signal { return nil }
