package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// paramFlags are the flags of the model's parameters.
func paramFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagOf(provider.EffortParam), Category: category, Usage: "reason as much as `LEVEL`: none, minimal, low, medium, high, xhigh or max"},
		&cli.StringFlag{Name: flagOf(provider.TemperatureParam), Category: category, Usage: "use the temperature `T`, from 0 to 2"},
		&cli.StringFlag{Name: flagOf(provider.MaxTokensParam), Category: category, Usage: "limit a response to `N` tokens, reasoning included"},
	}
}

// flagOf is the flag of a parameter, without its dashes.
func flagOf(param string) string { return strings.ReplaceAll(param, "_", "-") }

func paramFlagNames() []string {
	names := provider.ParamNames()
	for i, name := range names {
		names[i] = flagOf(name)
	}
	return names
}

// exampleOf is a value that a parameter can have.
func exampleOf(param string) string {
	switch param {
	case provider.EffortParam:
		return "high"
	case provider.TemperatureParam:
		return "0.2"
	}
	return "4000"
}

// readParams reads the flags of paramFlags.
func readParams(c *cli.Context, command string) (p provider.Params, err error) {
	for _, name := range provider.ParamNames() {
		flag := flagOf(name)
		if !c.IsSet(flag) {
			continue
		}
		if err := p.Set(name, c.String(flag)); err != nil {
			return p, cmdline.Usagef(command+" --"+flag+" "+exampleOf(name), "--%s: %s", flag, err)
		}
	}
	return p, nil
}

// paramsText writes the parameters that are set, for reading.
func paramsText(p provider.Params) string {
	var out []string
	for _, name := range provider.ParamNames() {
		if text := p.Text(name); text != "" {
			out = append(out, flagOf(name)+" "+text)
		}
	}
	if len(out) == 0 {
		return "no parameters are set: the configuration and the model decide"
	}
	return strings.Join(out, ", ")
}

// doEffort shows or sets how much the model reasons.
func (t *talk) doEffort(ctx context.Context, arg string) error {
	if arg == "" {
		t.say(paramsText(provider.Params{Effort: t.ask.params.Effort}))
		return nil
	}
	return t.doSet(ctx, flagOf(provider.EffortParam)+" "+arg)
}

// doSet sets a parameter for the questions that follow, or shows those that are set. The
// value default leaves a parameter to the configuration and the model.
func (t *talk) doSet(_ context.Context, arg string) error {
	name, value, _ := strings.Cut(arg, " ")
	param, value := strings.ReplaceAll(name, "-", "_"), strings.TrimSpace(value)
	switch {
	case arg == "":
	case !slices.Contains(provider.ParamNames(), param):
		return fault.New(fault.Usage, "the model has no parameter "+name+"; there are "+strings.Join(paramFlagNames(), ", "), fault.Run("/set temperature 0.2"))
	case value == "default":
		t.ask.params.Clear(param)
	default:
		if err := t.ask.params.Set(param, value); err != nil {
			return fault.New(fault.Usage, "/set "+name+": "+err.Error(),
				fault.Run("/set "+name+" "+exampleOf(param)), fault.Run("/set "+name+" default   leaves it to the configuration and the model"))
		}
	}
	t.say(paramsText(t.ask.params))
	return nil
}
