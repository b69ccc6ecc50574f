// Command {{name}} plays {{game}}.
package main

import (
	"context"

	"botarena"
)

// act is asked whenever there is a choice. view is the position as your seat knows it, legal is what you may do.
func act(ctx context.Context, view *botarena.View, legal botarena.Legal, clock botarena.Clock) (botarena.Choice, error) {
	return legal[view.Rand().IntN(len(legal))], nil
}

func main() {
	botarena.Main(botarena.Bot{
		Games:        []string{"{{game}}"},
		TypedActions: true,
		Act:          act,
	})
}
