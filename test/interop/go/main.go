// Command driver runs the stock Go client against a name server: one story a
// run. It ends with a line `RESULT {json}` of what was seen, and with code 1
// when the client itself failed.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// How long a story waits for what must come.
const patience = 60 * time.Second

// figures are what a story counted.
type figures map[string]int

// site is where a story takes place.
type site struct {
	namesrv string
	broker  string
	topic   string
}

var stories = map[string]func(site) (figures, error){
	"deliver":   deliver,
	"share":     share,
	"orderly":   orderly,
	"broadcast": broadcast,
	"pull":      pull,
}

func main() {
	if len(os.Args) != 5 {
		fmt.Println("usage: driver STORY NAMESRV BROKER TOPIC")
		os.Exit(2)
	}
	story, known := stories[os.Args[1]]
	if !known {
		fmt.Printf("unknown story %s\n", os.Args[1])
		os.Exit(2)
	}
	rlog.SetLogLevel("warn")
	seen, err := story(site{os.Args[2], os.Args[3], os.Args[4]})
	if err != nil {
		fmt.Printf("FAILED %v\n", err)
		os.Exit(1)
	}
	line, _ := json.Marshal(seen)
	fmt.Printf("RESULT %s\n", line)
}

// eventually waits until the condition holds, and says what did not.
func eventually(what string, condition func() bool) error {
	for deadline := time.Now().Add(patience); !condition(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v: %s", patience, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}
