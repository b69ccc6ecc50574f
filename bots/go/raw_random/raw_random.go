// Command raw_random is the bare protocol: a whole bot without the SDK. It plays at random.
package main

import (
	"context"
	"log"
	"math/rand/v2"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	pb "botarena/arenapb"
)

func main() {
	conn, _ := grpc.NewClient(os.Getenv("ARENA_ADDRESS"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+os.Getenv("ARENA_TOKEN"))
	stream, _ := pb.NewPlayServiceClient(conn).Play(ctx, grpc.WaitForReady(true))
	say := func(event *pb.BotEvent) { stream.Send(&pb.PlayRequest{Events: []*pb.BotEvent{event}}) }
	say(&pb.BotEvent{Event: &pb.BotEvent_Hello{Hello: &pb.Hello{}}})
	frame, err := stream.Recv()
	for ; err == nil; frame, err = stream.Recv() {
		for _, event := range frame.Events {
			switch event := event.Event.(type) {
			case *pb.ArenaEvent_SetOffered:
				say(&pb.BotEvent{Event: &pb.BotEvent_Ready{Ready: &pb.Ready{OfferId: event.SetOffered.OfferId}}})
			case *pb.ArenaEvent_DecisionRequested:
				asked := event.DecisionRequested
				choice := &pb.Act_ActionId{ActionId: asked.Legal[rand.IntN(len(asked.Legal))].Id}
				say(&pb.BotEvent{Event: &pb.BotEvent_Act{Act: &pb.Act{GameId: asked.GameId, DecisionId: asked.DecisionId, Choice: choice}}})
			case *pb.ArenaEvent_Ping:
				say(&pb.BotEvent{Event: &pb.BotEvent_Pong{Pong: &pb.Pong{Nonce: event.Ping.Nonce}}})
			}
		}
	}
	log.Fatal(err)
}
