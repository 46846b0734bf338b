package chat

import (
	"context"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// doEffort shows or sets how much the model reasons.
func (t *talk) doEffort(ctx context.Context, arg string) error {
	if arg == "" {
		t.say(question.ParamsText(provider.Params{Effort: t.ask.Params.Effort}))
		return nil
	}
	return t.doSet(ctx, question.ParamFlag(provider.EffortParam)+" "+arg)
}

// doSet sets a parameter for the questions that follow, or shows those that are set. The
// value default leaves a parameter to the configuration and the model.
func (t *talk) doSet(_ context.Context, arg string) error {
	name, value, _ := strings.Cut(arg, " ")
	param, value := strings.ReplaceAll(name, "-", "_"), strings.TrimSpace(value)
	switch {
	case arg == "":
	case !slices.Contains(provider.ParamNames(), param):
		return fault.New(fault.Usage, "the model has no parameter "+name+"; there are "+strings.Join(question.ParamFlagNames(), ", "), fault.Run("/set temperature 0.2"))
	case value == "default":
		t.ask.Params.Clear(param)
	default:
		if err := t.ask.Params.Set(param, value); err != nil {
			return fault.New(fault.Usage, "/set "+name+": "+err.Error(),
				fault.Run("/set "+name+" "+question.ParamExample(param)), fault.Run("/set "+name+" default   leaves it to the configuration and the model"))
		}
	}
	t.say(question.ParamsText(t.ask.Params))
	return nil
}
