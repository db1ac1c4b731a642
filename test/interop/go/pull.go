package main

import (
	"context"
	"fmt"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

const pulled = 200

// pull reads queue by queue from an offset, then as a member of a group that
// polls, and goes on there after its commit.
func pull(it site) (figures, error) {
	if err := it.sendSync(0, pulled); err != nil {
		return nil, err
	}
	byOffset, firstOffsets, err := it.pullQueues()
	if err != nil {
		return nil, err
	}
	polled, err := it.poll(0, pulled)
	if err != nil {
		return nil, err
	}
	if err := it.sendSync(pulled, pulled+50); err != nil {
		return nil, err
	}
	afterCommit, err := it.poll(pulled, 50)
	if err != nil {
		return nil, err
	}
	return figures{
		"byOffset":     byOffset,
		"firstOffsets": firstOffsets,
		"polled":       polled,
		"afterCommit":  afterCommit,
	}, nil
}

// pullQueues counts the different messages of all queues, and adds up the
// offsets that belong to a time before the first message.
func (it site) pullQueues() (int, int, error) {
	made, err := rocketmq.NewPullConsumer(
		it.consumerOptions("go-pull", "puller")...,
	)
	if err != nil {
		return 0, 0, err
	}
	if err := made.Assign(it.topic, nil); err != nil {
		return 0, 0, err
	}
	if err := made.Start(); err != nil {
		return 0, 0, err
	}
	defer made.Shutdown()
	all, err := made.GetTopicRouteInfo(it.topic)
	if err != nil {
		return 0, 0, err
	}
	box, firstOffsets := &inbox{}, 0
	for _, queue := range all {
		long := time.Now().Add(-time.Hour).UnixMilli()
		offset, err := made.OffsetForTimestamp(queue, long)
		if err != nil {
			return 0, 0, err
		}
		firstOffsets += int(offset)
		if err := pullQueue(made, queue, offset, box); err != nil {
			return 0, 0, err
		}
	}
	return len(keysOf(box)), firstOffsets, nil
}

// pullQueue stops at the end of the queue: a pull beyond it is held by the broker.
func pullQueue(
	made rocketmq.PullConsumer, queue *primitive.MessageQueue, offset int64, box *inbox,
) error {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		result, err := made.PullFrom(ctx, queue, offset, 16)
		cancel()
		if err != nil {
			return err
		}
		if result.Status != primitive.PullFound {
			return fmt.Errorf("%s at %d: status %d", queue, offset, result.Status)
		}
		box.add(result.GetMessageExts()...)
		offset = result.NextBeginOffset
		if offset >= result.MaxOffset {
			return nil
		}
	}
}

// poll reads `count` messages of the numbers from `from` on as a member, and
// commits. Any other message is an error.
func (it site) poll(from, count int) (int, error) {
	made, err := rocketmq.NewPullConsumer(it.consumerOptions(
		"go-poll", fmt.Sprintf("poller-%d", from),
		consumer.WithMaxReconsumeTimes(2),
	)...)
	if err != nil {
		return 0, err
	}
	selector := consumer.MessageSelector{Type: consumer.TAG, Expression: "*"}
	if err := made.Subscribe(it.topic, selector); err != nil {
		return 0, err
	}
	if err := made.Start(); err != nil {
		return 0, err
	}
	defer made.Shutdown()
	wanted := map[string]bool{}
	for number := from; number < from+count; number++ {
		wanted[keyOf(number)] = true
	}
	box, last := &inbox{}, &primitive.MessageQueue{}
	for deadline := time.Now().Add(patience); len(keysOf(box)) < count; {
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("polled %d of %d", len(keysOf(box)), count)
		}
		request, err := made.Poll(context.Background(), time.Second)
		if consumer.IsNoNewMsgError(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		box.add(request.GetMsgList()...)
		last = request.GetMQ()
		made.ACK(context.Background(), request, consumer.ConsumeSuccess)
	}
	for key := range keysOf(box) {
		if !wanted[key] {
			return 0, fmt.Errorf("polled %s, which was committed", key)
		}
	}
	if err := made.PersistOffset(context.Background(), it.topic); err != nil {
		return 0, err
	}
	// The broker answers in turn: by then it has the commits, whatever the end
	// of the connection does to those that Shutdown sends.
	_, err = made.OffsetForTimestamp(last, time.Now().UnixMilli())
	return len(keysOf(box)), err
}
