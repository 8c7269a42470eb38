package redis_test

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"github.com/carryon-go/carryon/continuation"
	"github.com/carryon-go/carryon/middleware"
	"github.com/carryon-go/carryon/records"
	"github.com/carryon-go/carryon/stores/redis"
	"github.com/carryon-go/carryon/todo"
)

// startServer starts what stands for your Redis here.
func startServer() *miniredis.Miniredis {
	server := miniredis.NewMiniRedis()
	if err := server.Start(); err != nil {
		panic(err)
	}
	return server
}

// Two replicas of a program share lists and sessions.
func Example() {
	server := startServer()
	defer server.Close()
	ctx := continuation.WithSession(context.Background(), "conversation-42")
	open := func() *redis.Engine {
		engine, err := redis.Open("redis://" + server.Addr() + "/0")
		if err != nil {
			panic(err)
		}
		return engine
	}
	replica := func(engine records.Records) (*todo.Memory, *middleware.Middleware) {
		todos := todo.NewMemory(todo.WithRecords(engine))
		return todos, middleware.New(todos, middleware.WithRecords(engine))
	}
	engineOfA, engineOfB := open(), open()
	defer func() { _, _ = engineOfA.Close(), engineOfB.Close() }()
	todosOfA, a := replica(engineOfA)
	todosOfB, b := replica(engineOfB)

	fmt.Println(todosOfA.Write(ctx, []todo.Todo{{Content: "Paint the fence"}}))
	list, err := todosOfB.Todos(ctx)
	fmt.Println(list[0].Content, err)
	fmt.Println(a.Pause(ctx, "The paint is missing"))
	state, err := b.State(ctx)
	fmt.Println(state.Paused.Reason, err)
	// Output:
	// <nil>
	// Paint the fence <nil>
	// <nil>
	// The paint is missing <nil>
}

// A program that has a client hands it over. It has to heed the ctx.
func ExampleNew() {
	server := startServer()
	defer server.Close()
	client := goredis.NewClient(&goredis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()

	engine, err := redis.New(client)
	fmt.Println(err)
	fmt.Println(engine.Ping(context.Background()))
	// Output:
	// <nil>
	// <nil>
}

// A wrong URL or password is found when the program starts.
func ExampleEngine_Ping() {
	server := startServer()
	defer server.Close()
	server.RequireAuth("secret")

	engine, err := redis.Open("redis://" + server.Addr())
	fmt.Println(err)
	fmt.Println(engine.Ping(context.Background()))
	fmt.Println(engine.Close())
	// Output:
	// <nil>
	// redis: NOAUTH Authentication required.
	// <nil>
}
