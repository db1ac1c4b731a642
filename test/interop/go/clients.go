package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// received is one delivery.
type received struct {
	key, tag, body string
	queueID        int
	queueOffset    int64
}

// inbox collects deliveries of one consumer.
type inbox struct {
	mutex sync.Mutex
	all   []received
}

func (it *inbox) add(messages ...*primitive.MessageExt) {
	it.mutex.Lock()
	defer it.mutex.Unlock()
	for _, message := range messages {
		it.all = append(it.all, received{
			key:         strings.TrimSpace(message.GetKeys()),
			tag:         message.GetTags(),
			body:        string(message.Body),
			queueID:     message.Queue.QueueId,
			queueOffset: message.QueueOffset,
		})
	}
}

func (it *inbox) list() []received {
	it.mutex.Lock()
	defer it.mutex.Unlock()
	return append([]received(nil), it.all...)
}

// keys are the different keys that came.
func keysOf(boxes ...*inbox) map[string]bool {
	keys := map[string]bool{}
	for _, box := range boxes {
		for _, message := range box.list() {
			keys[message.key] = true
		}
	}
	return keys
}

// bodyOf makes the body of message `number`; every tenth is long enough to be compressed.
func bodyOf(number int) []byte {
	text := fmt.Sprintf("body %d äöü 消息", number)
	if number%10 == 0 {
		text += strings.Repeat(" again", 1000)
	}
	return []byte(text)
}

func keyOf(number int) string {
	return fmt.Sprintf("key%d", number)
}

func (it site) message(number int, tag string) *primitive.Message {
	return primitive.NewMessage(it.topic, bodyOf(number)).
		WithTag(tag).WithKeys([]string{keyOf(number)})
}

func (it site) producer(options ...producer.Option) (rocketmq.Producer, error) {
	made, err := rocketmq.NewProducer(append([]producer.Option{
		producer.WithNameServer(primitive.NamesrvAddr{it.namesrv}),
		producer.WithGroupName("go-producers"),
		producer.WithInstanceName("producer"),
	}, options...)...)
	if err != nil {
		return nil, err
	}
	return made, made.Start()
}

// sendSync sends messages with the numbers from <= n < to, one by one.
func (it site) sendSync(from, to int, options ...producer.Option) error {
	sender, err := it.producer(options...)
	if err != nil {
		return err
	}
	defer sender.Shutdown()
	for number := from; number < to; number++ {
		message := it.message(number, "TagA").WithShardingKey(keyOf(number % 8))
		result, err := sender.SendSync(context.Background(), message)
		if err != nil {
			return err
		}
		if result.Status != primitive.SendOK {
			return fmt.Errorf("message %d: %v", number, result)
		}
	}
	return nil
}

// consumerOptions reads from the first message on, as `instance` of `group`.
func (it site) consumerOptions(
	group, instance string, more ...consumer.Option,
) []consumer.Option {
	return append([]consumer.Option{
		consumer.WithNameServer(primitive.NamesrvAddr{it.namesrv}),
		consumer.WithGroupName(group),
		consumer.WithInstance(instance),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	}, more...)
}

// member starts a push consumer that fills an inbox.
func (it site) member(
	group, instance, tags string, more ...consumer.Option,
) (rocketmq.PushConsumer, *inbox, error) {
	box := &inbox{}
	made, err := rocketmq.NewPushConsumer(
		it.consumerOptions(group, instance, more...)...,
	)
	if err != nil {
		return nil, nil, err
	}
	selector := consumer.MessageSelector{Type: consumer.TAG, Expression: tags}
	err = made.Subscribe(it.topic, selector, func(
		_ context.Context, messages ...*primitive.MessageExt,
	) (consumer.ConsumeResult, error) {
		box.add(messages...)
		return consumer.ConsumeSuccess, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return made, box, made.Start()
}
