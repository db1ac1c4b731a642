package main

import (
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

const ordered = 400

// orderly sends by a sharding key and reads with the queues locked, first by
// one member, then by the other one, which must get the locks. What the first
// one had may come again: this client closes its connection behind its last
// commits, which the answers to the first of them then cut off.
func orderly(it site) (figures, error) {
	hash := producer.WithQueueSelector(producer.NewHashQueueSelector())
	options := []consumer.Option{
		consumer.WithConsumerOrder(true),
		consumer.WithRebalanceLockInterval(time.Second),
	}
	if err := it.sendSync(0, ordered/2, hash); err != nil {
		return nil, err
	}
	boxes := []*inbox{}
	for turn, instance := range []string{"first", "second"} {
		member, box, err := it.member("go-orderly", instance, "*", options...)
		if err != nil {
			return nil, err
		}
		boxes = append(boxes, box)
		wanted := ordered / 2 * (turn + 1)
		err = eventually("messages in order", func() bool {
			return len(keysOf(boxes...)) >= wanted
		})
		if err != nil {
			return nil, err
		}
		if err := member.Shutdown(); err != nil {
			return nil, err
		}
		if turn == 0 {
			if err := it.sendSync(ordered/2, ordered, hash); err != nil {
				return nil, err
			}
		}
	}
	return figures{
		"received":   len(keysOf(boxes...)),
		"outOfOrder": outOfOrder(boxes[0].list()) + outOfOrder(boxes[1].list()),
	}, nil
}

// outOfOrder counts deliveries that do not follow the one before in their queue.
func outOfOrder(deliveries []received) int {
	next := map[int]int64{}
	count := 0
	for _, one := range deliveries {
		wanted, known := next[one.queueID]
		if known && one.queueOffset != wanted {
			count++
		}
		next[one.queueID] = one.queueOffset + 1
	}
	return count
}
