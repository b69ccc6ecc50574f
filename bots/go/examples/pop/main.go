// Command pop plays POP!: it takes the choice with the best expected lead over the others, who are thought to choose at
// random from the cards that it has not seen.
package main

import "botarena"

func main() {
	botarena.Main(botarena.Bot{
		Games:        []string{"pop"},
		TypedActions: true,
		Act:          act,
	})
}
