package main

import "github.com/apache/rocketmq-client-go/v2/consumer"

const broadcasted = 100

// broadcast lets two members of one group get every message each.
func broadcast(it site) (figures, error) {
	if err := it.sendSync(0, broadcasted); err != nil {
		return nil, err
	}
	boxes := []*inbox{}
	for _, instance := range []string{"first", "second"} {
		member, box, err := it.member(
			"go-broadcast", instance, "*",
			consumer.WithConsumerModel(consumer.BroadCasting),
		)
		if err != nil {
			return nil, err
		}
		defer member.Shutdown()
		boxes = append(boxes, box)
	}
	err := eventually("all messages at both", func() bool {
		return len(keysOf(boxes[0])) >= broadcasted &&
			len(keysOf(boxes[1])) >= broadcasted
	})
	if err != nil {
		return nil, err
	}
	return figures{
		"first":      len(keysOf(boxes[0])),
		"second":     len(keysOf(boxes[1])),
		"deliveries": len(boxes[0].list()) + len(boxes[1].list()),
	}, nil
}
