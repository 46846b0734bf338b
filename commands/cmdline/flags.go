package cmdline

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// ListFlag is a flag that may be repeated; alias may be empty.
func ListFlag(name, alias, category, usage string) cli.Flag {
	f := &cli.GenericFlag{Name: name, Category: category, Usage: usage, Value: new(Values)}
	if alias != "" {
		f.Aliases = []string{alias}
	}
	return f
}

// YesFlag is the flag of commands that ask before they remove something.
func YesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "don't ask"}
}

// OutputFlag is the flag of commands that print text or JSON. Another value of it is
// refused before the command runs.
func OutputFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "print `FORMAT` text or json",
		Action: func(c *cli.Context, output string) error {
			if output != "text" && output != "json" {
				return Usagef(c.Command.HelpName+" -o json", "--output has no format %s: there are text and json", strconv.Quote(output))
			}
			return nil
		},
	}
}

// Values are those of a flag that may be repeated, each as it was given:
// cli/v2's own kind would split them at commas.
type Values []string

// wholeList begins a list that cli/v2 hands from one name of a flag to another.
// Each value ends in a NUL, which no argument can hold.
const wholeList = "\x00list:"

// Set takes one more value.
func (v *Values) Set(s string) error {
	if list, ok := strings.CutPrefix(s, wholeList); ok {
		all := strings.Split(list, "\x00")
		*v = all[:len(all)-1]
		return nil
	}
	*v = append(*v, s)
	return nil
}

// String is what cli/v2 would show as the default.
func (v *Values) String() string { return strings.Join(*v, ", ") }

// Serialize is how cli/v2 copies the list.
func (v *Values) Serialize() string {
	s := wholeList
	for _, one := range *v {
		s += one + "\x00"
	}
	return s
}

// ListOf are the values of a flag that [ListFlag] has made.
func ListOf(c *cli.Context, name string) []string {
	if v, ok := c.Generic(name).(*Values); ok {
		return *v
	}
	return nil
}
