package main

import (
	"context"
	"fmt"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
)

// A topic of these stories has so many queues, which a producer fills in turn.
const queues = 8

// share lets two members of one group divide the queues; after one has left,
// the other has all.
func share(it site) (figures, error) {
	sender, err := it.producer()
	if err != nil {
		return nil, err
	}
	defer sender.Shutdown()
	first, firstBox, err := it.member("go-share", "first", "*")
	if err != nil {
		return nil, err
	}
	defer first.Shutdown()
	second, secondBox, err := it.member("go-share", "second", "*")
	if err != nil {
		return nil, err
	}
	defer second.Shutdown()

	rounds := &rounds{site: it, sender: sender, boxes: []*inbox{firstBox, secondBox}}
	shared, err := rounds.until("half of the queues for each", queues/2, queues/2)
	if err != nil {
		return nil, err
	}
	if err := first.Shutdown(); err != nil {
		return nil, err
	}
	alone, err := rounds.until("all queues for the second", 0, queues)
	if err != nil {
		return nil, err
	}
	return figures{
		"firstShared":  shared[0],
		"secondShared": shared[1],
		"firstAlone":   alone[0],
		"secondAlone":  alone[1],
		"missing":      rounds.sent - len(keysOf(rounds.boxes...)),
	}, nil
}

// rounds sends one message to each queue at a time and sees who gets them.
type rounds struct {
	site   site
	sender rocketmq.Producer
	boxes  []*inbox
	sent   int
}

// until plays rounds until each member gets as many queues of one as is wanted.
func (it *rounds) until(what string, wanted ...int) ([]int, error) {
	var got []int
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		var err error
		got, err = it.play()
		if err != nil {
			return nil, err
		}
		if got[0] == wanted[0] && got[1] == wanted[1] {
			return got, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, fmt.Errorf("not within %v: %s, but %v", patience, what, got)
}

// play returns how many queues each member had in this round.
func (it *rounds) play() ([]int, error) {
	wanted := map[string]bool{}
	for count := 0; count < queues; count++ {
		message := it.site.message(it.sent, "TagA")
		if _, err := it.sender.SendSync(context.Background(), message); err != nil {
			return nil, err
		}
		wanted[keyOf(it.sent)] = true
		it.sent++
	}
	err := eventually("all messages of a round", func() bool {
		seen := keysOf(it.boxes...)
		for key := range wanted {
			if !seen[key] {
				return false
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	var shares []int
	for _, box := range it.boxes {
		ids := map[int]bool{}
		for _, one := range box.list() {
			if wanted[one.key] {
				ids[one.queueID] = true
			}
		}
		shares = append(shares, len(ids))
	}
	return shares, nil
}
