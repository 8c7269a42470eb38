package fakellm_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

func TestFaultsInAStream(t *testing.T) {
	text := fakellm.Text("one two three")
	tests := []struct {
		name     string
		turn     fakellm.Turn
		text     string
		finished bool
		err      error
	}{
		{"cut at once", text.CutAfter(0), "", false, io.ErrUnexpectedEOF},
		{"cut in the text", text.CutAfter(2), "one ", false, io.ErrUnexpectedEOF},
		{"cut before the finish", text.CutAfter(-2), "one two three", false, io.ErrUnexpectedEOF},
		{"cut before done", text.CutAfter(-1), "one two three", true, io.ErrUnexpectedEOF},
		{"cut after all", text.CutAfter(99), "one two three", true, nil},
		{"end in the text", text.EndAfter(3), "one two ", false, nil},
		{"end before done", text.EndAfter(-1), "one two three", true, nil},
		{"no done", text.NoDone(), "one two three", true, nil},
		{"the last fault counts", text.CutAfter(0).EndAfter(2), "one ", false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, connect := range ways() {
				t.Run(name, func(t *testing.T) {
					r := ask(t, connect(fakellm.NewServer(t, tt.turn)), question())
					assert.Equal(t, tt.text, r.text)
					assert.Equal(t, tt.finished, len(r.finishes) == 1)
					require.ErrorIs(t, r.err, tt.err)
				})
			}
		})
	}
}

func TestFaultsOfAnAnswerInOnePiece(t *testing.T) {
	text := fakellm.Text("one two three")
	tests := []struct {
		name string
		turn fakellm.Turn
		err  error
	}{
		{"cut", text.CutAfter(1), io.ErrUnexpectedEOF},
		{"cut before the body", text.CutAfter(0), io.ErrUnexpectedEOF},
		{"cut before all", text.Cut(), io.EOF},
		{"end", text.EndAfter(1), io.ErrUnexpectedEOF}, // which is what a JSON decoder calls it
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, connect := range ways() {
				t.Run(name, func(t *testing.T) {
					_, err := connect(fakellm.NewServer(t, tt.turn)).CreateChatCompletion(t.Context(), question())
					require.ErrorIs(t, err, tt.err)
				})
			}
		})
	}
}

func TestCutBeforeTheFirstByte(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			client := connect(fakellm.NewServer(t, fakellm.Text("x").Cut()))
			stream, err := client.CreateChatCompletionStream(t.Context(), question())
			assert.Nil(t, stream)
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestErrorInAStream(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			turn := fakellm.Text("one two").ErrorAfter(2, "overloaded")
			client := connect(fakellm.NewServer(t, turn, turn))

			r := ask(t, client, question())
			assert.Equal(t, "one ", r.text)
			var failure *openai.APIError
			require.ErrorAs(t, r.err, &failure)
			assert.Equal(t, "overloaded", failure.Message)
			assert.Equal(t, "server_error", failure.Type)

			_, err := client.CreateChatCompletion(t.Context(), question())
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, http.StatusInternalServerError, failure.HTTPStatusCode)
		})
	}
}

func TestHangEndsWithTheContext(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			client := connect(fakellm.NewServer(t, fakellm.Text("one two").HangAfter(2), fakellm.Text("x").Hang()))
			ctx, cancel := context.WithCancel(t.Context())
			stream := open(ctx, t, client)
			for range 2 {
				_, err := stream.Recv()
				require.NoError(t, err)
			}
			go cancel()
			_, err := stream.Recv()
			require.ErrorIs(t, err, context.Canceled)

			ctx, cancel = context.WithCancel(t.Context())
			go cancel()
			_, err = client.CreateChatCompletionStream(ctx, question())
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestHangEndsWithTheStream(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			client := connect(fakellm.NewServer(t, fakellm.Text("one two").HangAfter(1)))
			stream := open(t.Context(), t, client)
			_, err := stream.Recv()
			require.NoError(t, err)
			failed := make(chan error)
			go func() {
				_, err := stream.Recv()
				failed <- err
			}()
			require.NoError(t, stream.Close())
			require.Error(t, <-failed)
		})
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			s := fakellm.NewServer(t,
				fakellm.Text("x").HangAfter(1),
				fakellm.Text("x").Delay(time.Hour),
				fakellm.Text("x").GateAfter(1, nil),
				fakellm.Text("read by nobody"),
			)
			client := connect(s)
			streams := make([]*openai.ChatCompletionStream, 4)
			for i := range streams {
				streams[i] = open(t.Context(), t, client)
			}
			_, err := streams[0].Recv()
			require.NoError(t, err)
			failed := make(chan error)
			for _, stream := range streams[:3] {
				go func() { failed <- readAll(stream).err }()
			}
			s.Close()
			for range 3 {
				require.Error(t, <-failed)
			}
		})
	}
}

func TestCloseEndsWhatHasNotBegun(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			arrived := make(chan struct{})
			s := fakellm.NewServer(t, fakellm.Func(func(fakellm.Request) fakellm.Turn {
				close(arrived)
				return fakellm.Text("x").Hang()
			}))
			failed := make(chan error)
			go func() {
				_, err := connect(s).CreateChatCompletion(t.Context(), question())
				failed <- err
			}()
			<-arrived
			s.Close()
			require.Error(t, <-failed)
		})
	}
}

func TestGatesHoldTheAnswerBack(t *testing.T) {
	for name, connect := range ways() {
		t.Run(name, func(t *testing.T) {
			headers, finish := make(chan struct{}), make(chan struct{})
			turn := fakellm.Text("one two").GateAfter(-2, finish).Gate(headers)
			client := connect(fakellm.NewServer(t, turn))
			opened := make(chan *openai.ChatCompletionStream)
			go func() {
				stream, err := client.CreateChatCompletionStream(t.Context(), question())
				assert.NoError(t, err)
				opened <- stream
			}()
			select {
			case <-opened:
				require.Fail(t, "opened before the gate")
			case headers <- struct{}{}:
			}
			stream := <-opened
			defer stream.Close()
			for _, want := range []string{"", "one ", "two"} {
				chunk, err := stream.Recv()
				require.NoError(t, err)
				assert.Equal(t, want, chunk.Choices[0].Delta.Content)
			}
			close(finish)
			assert.Equal(t, []string{"stop"}, readAll(stream).finishes)
		})
	}
}

func TestDelaysCostNoTimeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := fakellm.Text("one two").Delay(time.Minute) // role, two words, finish, done
		client := inMemory(fakellm.NewServer(t, turn, turn))
		start := time.Now()
		stream, err := client.CreateChatCompletionStream(t.Context(), question())
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
		var at []time.Duration
		for {
			_, err = stream.Recv()
			at = append(at, time.Since(start))
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
		require.NoError(t, stream.Close())
		assert.Equal(t, []time.Duration{
			time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute,
		}, at)

		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		_, err = client.CreateChatCompletion(ctx, question())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestHangLastsUntilTheDeadlineInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakellm.NewServer(t, fakellm.Text("x").Hang(), fakellm.Text("x").HangAfter(1))
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := inMemory(s).CreateChatCompletion(ctx, question())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Hour, time.Since(start))

		config := openai.DefaultConfig("no key")
		config.BaseURL = fakellm.BaseURL
		config.HTTPClient = &http.Client{Transport: s.Transport(), Timeout: time.Minute}
		stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(t.Context(), question())
		require.NoError(t, err)
		r := readAll(stream)
		require.ErrorIs(t, r.err, context.DeadlineExceeded)
		require.NoError(t, stream.Close())
		assert.Equal(t, time.Hour+time.Minute, time.Since(start))
		assert.Equal(t, time.Hour, s.Requests()[1].Time.Sub(start))
	})
}
