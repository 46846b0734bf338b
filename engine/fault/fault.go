package fault

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Code is the kind of a failure. It is also the `code` of an error event.
type Code string

// The kinds, with the exit status in front; [Code.Exit] and [Code.Status]
// read the tables below.
const (
	Failed       Code = "failed"        // 1: anything that has no kind of its own
	InvalidReply Code = "invalid_reply" // 1: the model's answer can't be used (broken stream, schema not met)
	NotFound     Code = "not_found"     // 1: a chat, turn, prompt or anything else that was named and isn't there
	Busy         Code = "busy"          // 1: another process owns the turn or the chat
	Usage        Code = "usage"         // 2: flags, arguments or input that can't be meant
	Config       Code = "config"        // 3: the configuration is broken
	Unavailable  Code = "unavailable"   // 4: no model, or its provider is out of reach
	Unauthorised Code = "unauthorised"  // 5: the provider refuses the key
	Overloaded   Code = "overloaded"    // 6: rate-limited or overloaded, after retries
	Context      Code = "context"       // 7: the conversation doesn't fit the model's context
	Approval     Code = "approval"      // 8: a tool call needed an approval that nobody could give
	TurnLimit    Code = "turn_limit"    // 9: the model went on calling tools past the limit
	NoProgress   Code = "no_progress"   // 9: the model repeated itself, or nothing that it called worked
	Store        Code = "store"         // 10: the data directory is in trouble
	NoAnswer     Code = "no_answer"     // 11: the answer is empty, or was refused
	Timeout      Code = "timeout"       // 124: the turn took longer than it may
	Interrupted  Code = "interrupted"   // 130: stopped by a signal, a cancel or a crash
)

type row struct {
	exit, status int
	meaning      string
}

// table is the single place where a kind gets its exit status, its HTTP
// status and the sentence that `fettle help exit-codes` prints.
func table(c Code) row {
	switch c {
	case InvalidReply:
		return row{1, http.StatusBadGateway, "the model's answer can't be used"}
	case NotFound:
		return row{1, http.StatusNotFound, "no such chat, prompt, key, file or setting"}
	case Busy:
		return row{1, http.StatusConflict, "another process is at it"}
	case Usage:
		return row{2, http.StatusBadRequest, "flags, arguments or input that can't be meant"}
	case Config:
		return row{3, http.StatusInternalServerError, "the configuration is broken"}
	case Unavailable:
		return row{4, http.StatusServiceUnavailable, "no model, or its provider is out of reach"}
	case Unauthorised:
		return row{5, http.StatusBadGateway, "the provider refuses the key"}
	case Overloaded:
		return row{6, http.StatusTooManyRequests, "rate-limited or overloaded, after retries"}
	case Context:
		return row{7, http.StatusRequestEntityTooLarge, "the conversation doesn't fit the model's context"}
	case Approval:
		return row{8, http.StatusForbidden, "a tool call needed an approval that nobody could give"}
	case TurnLimit:
		return row{9, http.StatusUnprocessableEntity, "the turn limit was reached"}
	case NoProgress:
		return row{9, http.StatusUnprocessableEntity, "the model got nowhere: calls repeated or failed"}
	case Store:
		return row{10, http.StatusServiceUnavailable, "the data directory is in trouble"}
	case NoAnswer:
		return row{11, http.StatusBadGateway, "the answer is empty, or the provider refused to give one"}
	case Timeout:
		return row{124, http.StatusGatewayTimeout, "the time limit was reached"}
	case Interrupted:
		return row{130, 499, "interrupted"}
	default:
		return row{1, http.StatusInternalServerError, "failed"}
	}
}

// Exit is the exit status of a program that ends with this kind; never 0.
func (c Code) Exit() int { return table(c).exit }

// Status is the HTTP status of a response that ends with this kind.
func (c Code) Status() int { return table(c).status }

// Meaning is one short clause in lower case, for help and OpenAPI.
func (c Code) Meaning() string { return table(c).meaning }

// Codes lists every kind, in the order of their exit statuses.
func Codes() []Code {
	return []Code{
		Failed, InvalidReply, NotFound, Busy, Usage, Config, Unavailable, Unauthorised,
		Overloaded, Context, Approval, TurnLimit, NoProgress, Store, NoAnswer, Timeout, Interrupted,
	}
}

// Fault is an error that a person reads. It is immutable once returned.
type Fault struct {
	Code Code
	// Msg says what happened to which thing: lower case, no full stop, one line.
	Msg string
	// Detail are further lines, shown indented below Msg, such as a list of
	// what was looked for.
	Detail []string
	// Total is how many things Detail is about, where it is a list of which only
	// the first may be told: see [Fault.List]. Elsewhere it is 0.
	Total int
	// Input is the field of the request that is wrong, by its name in the HTTP API;
	// empty where no field is. Front ends put their own name of it in front of Msg.
	Input string
	// Remedies are next steps, best first. Each front end writes them in its own terms.
	Remedies []Remedy
	// Status is the HTTP status where the kind's is not the failure's nature, such
	// as a refusal by a provider that no second request changes; 0 is the kind's.
	Status int
	// RetryAfter is how long a provider asks its clients to wait; 0 where it does not.
	RetryAfter time.Duration
	// Err is the cause, for errors.Is and logs; its text is not shown.
	Err error
}

// Listed is how many things of a list Detail tells: more than a screen of them
// nobody reads, and a folder can have a million.
const Listed = 20

// HTTPStatus is the HTTP status of a response that fails with f.
func (f *Fault) HTTPStatus() int {
	if f.Status != 0 {
		return f.Status
	}
	return f.Code.Status()
}

// List makes Detail a list of things, of which line gives the text: the first
// Listed of them, and how many there are beside. It is for whoever makes the Fault.
func (f *Fault) List(total int, line func(i int) string) {
	f.Total, f.Detail = total, nil
	for i := range min(total, Listed) {
		f.Detail = append(f.Detail, line(i))
	}
	if more := total - Listed; more > 0 {
		f.Detail = append(f.Detail, fmt.Sprintf("and %d more", more))
	}
}

// Error returns Msg in one line, after the field that is wrong.
func (f *Fault) Error() string { return f.Text(f.Input) }

// Text returns Msg after the name of the field that is wrong, as a front end calls it.
func (f *Fault) Text(input string) string {
	if f.Input == "" {
		return f.Msg
	}
	return input + ": " + f.Msg
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Err }

// New makes a Fault with remedies.
func New(code Code, msg string, remedies ...Remedy) *Fault {
	return &Fault{Code: code, Msg: msg, Remedies: remedies}
}

// WrongInput makes a Fault of the kind Usage about a field of the request. A cause that
// is a Fault is returned unchanged, as by Wrap.
func WrongInput(field string, err error, remedies ...Remedy) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: Usage, Input: field, Msg: oneLine(err.Error()), Remedies: remedies, Err: err}
}

// Wrap makes a Fault that says what was being done and why it failed; the
// cause's text follows a colon. A cause that is a Fault already is returned
// unchanged, so that the first to know the kind decides it.
func Wrap(code Code, doing string, err error, remedies ...Remedy) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: code, Msg: doing + ": " + oneLine(err.Error()), Remedies: remedies, Err: err}
}

// CodeOf tells the kind of any error: a Fault's own, else Failed.
func CodeOf(err error) Code {
	var f *Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return Failed
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Plural returns a number with its noun: "1 file", "2 files".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// FirstLine returns the first line of an error's text.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
