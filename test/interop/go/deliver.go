package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/admin"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

const (
	bySync    = 100
	byAsync   = 100
	byOneway  = 100
	batches   = 10
	batchSize = 10
	byAll     = bySync + byAsync + byOneway + batches*batchSize
	unwanted  = 20
)

// deliver makes the topic with the client's own tool, sends in four ways with
// keys and tags, and receives through a filter of tags.
func deliver(it site) (figures, error) {
	if err := it.createTopic(); err != nil {
		return nil, err
	}
	sender, err := it.producer()
	if err != nil {
		return nil, err
	}
	defer sender.Shutdown()
	sent, err := it.sendAllWays(sender)
	if err != nil {
		return nil, err
	}
	reader, box, err := it.member("go-deliver", "reader", "TagA || TagB")
	if err != nil {
		return nil, err
	}
	defer reader.Shutdown()
	err = eventually("all messages", func() bool {
		return len(keysOf(box)) >= byAll
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %d of %d", err, len(keysOf(box)), byAll)
	}
	return figures{
		"sent":       sent,
		"right":      rightOnes(box.list()),
		"deliveries": len(box.list()),
	}, nil
}

func (it site) createTopic() error {
	tool, err := admin.NewAdmin(admin.WithResolver(
		primitive.NewPassthroughResolver([]string{it.namesrv}),
	))
	if err != nil {
		return err
	}
	defer tool.Close()
	err = tool.CreateTopic(
		context.Background(),
		admin.WithTopicCreate(it.topic),
		admin.WithBrokerAddrCreate(it.broker),
	)
	if err != nil {
		return err
	}
	topics, err := tool.FetchAllTopicList(context.Background())
	if err != nil {
		return err
	}
	for _, name := range topics.TopicList {
		if name == it.topic {
			return nil
		}
	}
	return fmt.Errorf("%s is not in the list of topics", it.topic)
}

// sendAllWays returns how many messages the broker said it has.
func (it site) sendAllWays(sender rocketmq.Producer) (int, error) {
	ctx := context.Background()
	sent, number := 0, 0
	next := func() *primitive.Message {
		number++
		return it.message(number-1, []string{"TagA", "TagB"}[number%2])
	}
	for ; number < bySync; sent++ {
		result, err := sender.SendSync(ctx, next())
		if err != nil || result.Status != primitive.SendOK {
			return sent, fmt.Errorf("sync: %v %w", result, err)
		}
	}
	for batch := 0; batch < batches; batch++ {
		var messages []*primitive.Message
		for len(messages) < batchSize {
			messages = append(messages, next())
		}
		result, err := sender.SendSync(ctx, messages...)
		if err != nil || result.Status != primitive.SendOK {
			return sent, fmt.Errorf("batch: %v %w", result, err)
		}
		sent += batchSize
	}
	for count := 0; count < byOneway; count++ {
		if err := sender.SendOneWay(ctx, next()); err != nil {
			return sent, fmt.Errorf("oneway: %w", err)
		}
	}
	for count := 0; count < unwanted; count++ {
		message := it.message(byAll+count, "TagC")
		if _, err := sender.SendSync(ctx, message); err != nil {
			return sent, fmt.Errorf("TagC: %w", err)
		}
	}
	async, err := sendAsync(sender, byAsync, next)
	return sent + async, err
}

func sendAsync(
	sender rocketmq.Producer, count int, next func() *primitive.Message,
) (int, error) {
	var mutex sync.Mutex
	ok, failed := 0, error(nil)
	var waiting sync.WaitGroup
	for done := 0; done < count; done++ {
		waiting.Add(1)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		err := sender.SendAsync(ctx, func(
			_ context.Context, result *primitive.SendResult, err error,
		) {
			mutex.Lock()
			defer mutex.Unlock()
			defer waiting.Done()
			defer cancel()
			if err != nil || result.Status != primitive.SendOK {
				failed = fmt.Errorf("async: %v %w", result, err)
				return
			}
			ok++
		}, next())
		if err != nil {
			cancel()
			return ok, err
		}
	}
	waiting.Wait()
	return ok, failed
}

// rightOnes counts the different messages whose body and tag are those that were sent.
func rightOnes(deliveries []received) int {
	byKey := map[string]received{}
	for _, one := range deliveries {
		byKey[one.key] = one
	}
	right := 0
	for number := 0; number < byAll; number++ {
		one := byKey[keyOf(number)]
		tag := []string{"TagA", "TagB"}[(number+1)%2]
		if one.body == string(bodyOf(number)) && one.tag == tag {
			right++
		}
	}
	return right
}
