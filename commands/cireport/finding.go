package cireport

// The levels of findings.
const (
	Error   = "error"
	Warning = "warning"
	Note    = "note"
)

// Finding is one thing to say.
type Finding struct {
	// Path is of the file, with slashes, relative to the root that the reader of
	// the format expects; empty where there is no such file. Line and Column
	// count from 1; 0 means the file as a whole.
	Path         string
	Line, Column int
	Level        string // one of the above
	Code         string
	Message      string // one line
	// Help explains the code; empty where there is nothing to explain.
	Help string
}

// Suite is one bundle for JUnit.
type Suite struct {
	Name  string
	Cases []Case
}

// Case is one test, or one thing that was looked at.
type Case struct {
	Name, Class string
	// File and Line are where it is written; empty and 0 where that isn't known.
	File string
	Line int
	// Seconds is how long it took.
	Seconds float64
	// Failure is set for one that failed, Error for one that could not be run.
	Failure, Error *Trouble
	// Output is shown beside it.
	Output string
}

// Trouble is how a case failed.
type Trouble struct {
	Type    string
	Message string // one line
	Text    string // all of it
}
