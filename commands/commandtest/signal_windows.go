package commandtest

import "os"

// EndingSignals are those that end a program in order. Windows can't send a console
// signal to a single process of a test.
func EndingSignals() []os.Signal { return nil }
