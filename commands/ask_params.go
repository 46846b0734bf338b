package commands

import (
	"context"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// maxTemperature is the highest that any provider takes.
const maxTemperature = 2

// paramFlags are the flags of what a question asks of its model.
func paramFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "effort", Category: category, Usage: "how much to reason, `LEVEL`: none, minimal, low, medium, high, xhigh or max"},
		&cli.StringFlag{Name: "temperature", Category: category, Usage: "the temperature `T`, from 0 to 2"},
		&cli.StringFlag{Name: "max-tokens", Category: category, Usage: "let a response have at most `N` tokens, with its reasoning"},
	}
}

// readParams reads the flags of paramFlags.
func readParams(c *cli.Context, command string) (p provider.Params, err error) {
	for _, name := range []string{"effort", "temperature", "max-tokens"} {
		if !c.IsSet(name) {
			continue
		}
		if err := setParam(&p, name, c.String(name)); err != nil {
			return p, cmdline.Usagef(command+" --"+name+" "+paramExample(name), "--%s: %s", name, err)
		}
	}
	return p, nil
}

// setParam sets one parameter from its text. The text default leaves it to the
// configuration and the model.
func setParam(p *provider.Params, name, text string) error {
	if text == "default" {
		switch name {
		case "effort":
			p.Effort = ""
		case "temperature":
			p.Temperature = nil
		case "max-tokens":
			p.MaxTokens = 0
		}
		return nil
	}
	switch name {
	case "effort":
		e, err := provider.ParseEffort(text)
		if err != nil {
			return err
		}
		p.Effort = e
	case "temperature":
		t, err := strconv.ParseFloat(text, 64)
		if err != nil || !(t >= 0 && t <= maxTemperature) {
			return fault.New(fault.Usage, "a temperature is a number from 0 to 2, not "+strconv.Quote(text))
		}
		p.Temperature = &t
	case "max-tokens":
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fault.New(fault.Usage, "a number of tokens is at least 1, not "+strconv.Quote(text))
		}
		p.MaxTokens = n
	default:
		return fault.New(fault.Usage, "there is no parameter "+strconv.Quote(name)+"; there are effort, temperature and max-tokens")
	}
	return nil
}

func paramExample(name string) string {
	switch name {
	case "effort":
		return "high"
	case "temperature":
		return "0.2"
	}
	return "4000"
}

// paramsText writes the parameters that are set, for reading.
func paramsText(p provider.Params) string {
	var out []string
	if p.Effort != "" {
		out = append(out, "effort "+string(p.Effort))
	}
	if p.Temperature != nil {
		out = append(out, "temperature "+strconv.FormatFloat(*p.Temperature, 'g', -1, 64))
	}
	if p.MaxTokens > 0 {
		out = append(out, "max-tokens "+strconv.Itoa(p.MaxTokens))
	}
	if len(out) == 0 {
		return "no parameters are set; the model and the configuration decide"
	}
	return strings.Join(out, ", ")
}

func (t *talk) doEffort(ctx context.Context, arg string) error {
	if arg == "" {
		t.say(paramsText(provider.Params{Effort: t.ask.params.Effort}))
		return nil
	}
	return t.doSet(ctx, "effort "+arg)
}

// doSet sets a parameter for the questions that follow, or shows those that are set.
func (t *talk) doSet(_ context.Context, arg string) error {
	if arg != "" {
		name, value, _ := strings.Cut(arg, " ")
		name, value = strings.ReplaceAll(name, "_", "-"), strings.TrimSpace(value)
		if err := setParam(&t.ask.params, name, value); err != nil {
			return err
		}
	}
	t.say(paramsText(t.ask.params))
	return nil
}
