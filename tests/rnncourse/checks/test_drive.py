"""Each driver calls a candidate as its exercises need it."""

import numpy as np
import pytest
import torch
from torch import nn

from rnncourse.checks.callables import named
from rnncourse.checks.drive import (
    builds,
    call,
    differentiable,
    driver_named,
    iterate,
    layer,
    module,
    observe,
    padded,
    padded_module,
    stochastic,
    train,
    update,
    with_tensors,
)
from rnncourse.fixtures.heads import asked_again


def test_a_generator_is_read_to_its_end_but_not_for_ever():
    assert observe(lambda n: (k * k for k in range(n)), iterate, (3,)).answer == [0, 1, 4]

    def endless():
        while True:
            yield 1

    assert len(observe(endless, iterate, ()).answer) == 1000


def test_what_a_candidate_writes_to_its_arguments_can_be_the_answer():
    def step(parameters, gradient):
        parameters["w"] -= gradient
        return 7.0

    seen = observe(step, update, ({"w": np.ones(2)}, np.full(2, 0.5)))
    loss, (parameters, gradient) = seen.answer
    assert loss == 7.0
    np.testing.assert_array_equal(parameters["w"], [0.5, 0.5])
    np.testing.assert_array_equal(gradient, [0.5, 0.5])
    assert seen.changed == (0,)
    assert not seen.shared


def test_tensors_go_in_and_arrays_come_out():
    def mean(x, mask):
        assert isinstance(x, torch.Tensor)
        assert mask.dtype == torch.bool
        return (x * mask).sum() / mask.sum(), [x * 2]

    seen = observe(mean, with_tensors, (np.array([1.0, 3.0]), np.array([True, False])))
    assert seen.answer[0].dtype == np.float64
    np.testing.assert_array_equal(seen.answer[1][0], [2.0, 6.0])
    assert not seen.changed
    assert not seen.shared


def test_a_tensor_changed_in_place_and_a_view_of_one_are_seen():
    assert observe(lambda x: x.mul_(2), with_tensors, (np.ones(3),)).changed == (0,)
    assert observe(lambda x: x[1:], with_tensors, (np.ones(3),)).shared


@pytest.mark.parametrize("found", [call, stochastic, asked_again])
def test_a_driver_is_found_by_the_name_that_the_judge_sends(found):
    assert driver_named(found.name) is found


@pytest.mark.parametrize(
    "name",
    [
        "call",
        "rnncourse.checks.drive:observe",
        "rnncourse.checks.drive:call.function",
        "rnncourse.checks.engine:call",
        "rnncourse.fixtures.heads:tagging_model",
        "rnncourse.fixtures.heads.x:asked_again",
        "rnncourse.fixtures.:asked_again",
        "os:system",
    ],
)
def test_nothing_but_a_driver_can_be_named(name):
    with pytest.raises((KeyError, ModuleNotFoundError)):
        driver_named(name)


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return x * self.w


PARAMETERS = {"w": np.array([2.0, 3.0])}


def test_a_module_is_built_loaded_called_and_differentiated():
    seen = observe(Scale, module, ((2,), PARAMETERS, [(np.ones((1, 2)),), (np.full((1, 2), 2.0),)]))
    outputs, gradients = seen.answer
    np.testing.assert_array_equal(outputs[1], [[4.0, 6.0]])
    assert outputs[0].dtype == np.float64
    np.testing.assert_allclose(gradients["w"], 3 * np.cos([0.5, 1.5]))


class Detached(Scale):
    def forward(self, x):
        return super().forward(x).detach()


class Renamed(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))


class Wider(Scale):
    def __init__(self, size):
        super().__init__(size + 1)


class Extra(Scale):
    def __init__(self, size):
        super().__init__(size)
        self.b = nn.Parameter(torch.zeros(size))


class NoModule:
    def __init__(self, size):
        pass


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        (Detached, "no gradient reaches"),
        (Renamed, "no parameter w; it has weight"),
        (Wider, "shape (2,); it has (3,)"),
        (Extra, "parameter b too many"),
        (NoModule, "should be an nn.Module"),
    ],
)
def test_a_module_that_cannot_be_driven_is_told_why(candidate, words):
    seen = observe(candidate, module, ((2,), PARAMETERS, [(np.ones((1, 2)),)]))
    assert words in seen.error


class Dropping(Scale):
    """Drops with probability 1/4 and scales up what is left, while training."""

    def draw(self, x):
        return torch.rand_like(x) >= 0.25

    def forward(self, x):
        x = super().forward(x)
        return x * self.draw(x) / 0.75 if self.training else x


class DroppingByNumpy(Dropping):
    def draw(self, x):
        return torch.from_numpy(np.random.default_rng().random(x.shape) < 0.75)


class DroppingWholeRows(Dropping):
    def draw(self, x):
        return torch.rand_like(x[..., :1]) >= 0.25


class DroppingMost(Dropping):
    def draw(self, x):
        return torch.rand_like(x) < 0.25


class DroppingOneForAll(Dropping):
    def draw(self, x):
        return torch.rand_like(x[:, :1]) >= 0.25


class DroppingAlways(Dropping):
    def forward(self, x):
        self.training = True
        return super().forward(x)


def test_what_chance_does_while_training_is_the_same_for_every_draw():
    args = ((2,), PARAMETERS, [(np.ones((1, 1, 2)),)], 2000)
    outputs, gradients, ((seen,),) = observe(Dropping, stochastic, args).answer
    np.testing.assert_array_equal(outputs[0], [[[2.0, 3.0]]])
    np.testing.assert_allclose(gradients["w"], np.cos([0.5, 1.5]))
    kept = PARAMETERS["w"] / 0.75
    np.testing.assert_allclose(seen["different rows"], [[0, 0], [0, kept[1]], [kept[0], 0], kept], atol=1e-7)
    np.testing.assert_array_equal(seen["shares"], [0.0, 0.2, 0.2, 0.6])
    assert seen["drawn anew"]
    before = torch.random.get_rng_state()
    ((other,),) = observe(DroppingByNumpy, stochastic, args).answer[2]
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(np.array_equal(seen[key], other[key]) for key in seen)


def test_what_chance_should_not_do_while_training_shows():
    args = ((2,), PARAMETERS, [(np.ones((1, 1, 2)),)], 2000)

    def seen(candidate):
        ((found,),) = observe(candidate, stochastic, args).answer[2]
        return found

    assert len(seen(DroppingWholeRows)["different rows"]) == 2
    np.testing.assert_array_equal(seen(DroppingMost)["shares"], [0.6, 0.2, 0.2, 0.0])
    assert len(seen(DroppingOneForAll)["different rows"]) == 1
    assert len(seen(Scale)["different rows"]) == 1
    assert not seen(Scale)["drawn anew"]
    args = ((2,), PARAMETERS, [(np.ones((5, 4, 2)),)], 0)
    assert "in eval mode two equal calls" in observe(DroppingAlways, stochastic, args).error


class CutOff(Scale):
    def forward(self, x):
        return super().forward(x.detach())


def test_a_layer_shows_the_gradients_of_its_inputs():
    args = ((2,), PARAMETERS, [(np.ones((1, 2)),), (np.full((1, 2), 2.0),)])
    outputs, gradients, by_input = observe(Scale, layer, args).answer
    np.testing.assert_array_equal(outputs[1], [[4.0, 6.0]])
    np.testing.assert_allclose(gradients["w"], 3 * np.cos([0.5, 1.5]))
    np.testing.assert_allclose(by_input[1][0], [PARAMETERS["w"] * np.cos([0.5, 1.5])])
    outputs, gradients, by_input = observe(CutOff, layer, args).answer
    np.testing.assert_array_equal(outputs[1], [[4.0, 6.0]])
    np.testing.assert_allclose(gradients["w"], 3 * np.cos([0.5, 1.5]))
    np.testing.assert_array_equal(by_input[1][0], [[0.0, 0.0]])


def test_a_function_of_tensors_shows_the_gradients_of_its_arguments():
    x, ids = np.array([1.0, 3.0]), np.array([0, 1])
    seen = observe(lambda x, ids: x * x, differentiable, (x, ids))
    result, (by_x, by_ids) = seen.answer
    np.testing.assert_array_equal(result, [1.0, 9.0])
    np.testing.assert_allclose(by_x, 2 * x * np.cos([0.5, 1.5]))
    assert by_ids is None
    assert not seen.changed
    assert observe(lambda x, ids: x.mul_(2), differentiable, (x, ids)).changed == (0,)
    assert "no gradient flows back" in observe(lambda x, ids: x.sum().item(), differentiable, (x, ids)).error


@pytest.mark.parametrize("kind", ["arrays", "tensors", "parameters"])
def test_a_module_that_is_built_is_called_and_its_memory_watched(kind):
    def copies(weight):
        made = nn.Linear(3, 2, bias=False, dtype=torch.float64)
        made.load_state_dict({"weight": torch.as_tensor(weight)})
        return made

    def shares(weight):
        made = nn.Linear(3, 2, bias=False, dtype=torch.float64)
        made.weight = nn.Parameter(torch.as_tensor(weight).detach())
        return made

    weight, x = np.arange(6.0).reshape(2, 3), np.ones((1, 3))
    for candidate, shared in ((copies, False), (shares, True)):
        seen = observe(candidate, builds, ((weight,), kind, (x,)))
        name, state, result = seen.answer
        assert name == "Linear"
        np.testing.assert_array_equal(state["weight"], weight)
        np.testing.assert_array_equal(result, [[3.0, 12.0]])
        assert seen.shared == shared


def test_what_is_built_must_be_a_module():
    assert "should be an nn.Module" in observe(lambda w: {"w": w}, builds, ((np.ones(2),), "arrays", ())).error


def test_an_error_of_the_driver_shows_no_line_of_its_own_and_one_of_torch_says_what_does_not_fit():
    assert observe(Renamed, module, ((2,), PARAMETERS, [])).error.endswith("no parameter w; it has weight")

    def misfit(weight):
        nn.Linear(2, 3, bias=False).load_state_dict({"weight": torch.zeros(2, 3)})

    error = observe(misfit, builds, ((np.ones(2),), "arrays", ())).error
    assert "size mismatch for weight" in error
    assert "load_state_dict" in error


@named
def scale_model(start):
    """A Scale module with this weight."""
    model = Scale(len(start))
    model.double()
    with torch.no_grad():
        model.w.copy_(torch.tensor(start))
    return model


def test_a_training_function_gets_a_model_and_its_optimizer():
    def one_step(model, batches, optimizer, factor):
        loss = factor * model(batches[0]).sum()
        if factor == 2:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    for factor, step in ((2.0, 0.2), (3.0, 0.4)):  # who leaves the gradient of before goes a step of 0.1 too far
        seen = observe(one_step, train, (scale_model(start=[1.0, 2.0]), 0.1, [np.ones(2)], factor))
        assert seen.error is None
        loss, parameters = seen.answer
        assert loss == factor * 3
        np.testing.assert_allclose(parameters["w"], [1 - step, 2 - step])


@named
def seeded_draws(seed):
    """NumPy's random generator with this seed."""
    return np.random.default_rng(seed)


def test_a_random_generator_goes_by_its_seed():
    seen = observe(lambda rng: rng.standard_normal(2), call, (seeded_draws(seed=3),))
    np.testing.assert_array_equal(seen.answer, np.random.default_rng(3).standard_normal(2))


LENGTHS = np.array([2, 1, 3])


def test_what_stands_at_padded_steps_does_not_count():
    noise = np.random.default_rng(0)

    def doubled(x, lengths):
        result = 2 * x
        result[np.arange(len(x))[:, None] >= lengths] = noise.normal()
        lengths[:] = 3  # to write to the argument is seen, and helps nobody
        return result

    first, second = (observe(doubled, padded, (np.ones((3, 3, 2)), LENGTHS)) for _ in range(2))
    np.testing.assert_array_equal(first.answer, second.answer)
    np.testing.assert_array_equal(first.answer[..., 0], [[2, 2, 2], [2, 0, 2], [0, 0, 2]])
    assert first.changed == (1,)


def test_without_lengths_and_in_another_shape_an_answer_stays_as_it_is():
    assert observe(lambda x: x, padded, (np.ones((3, 3)),)).answer.all()
    assert observe(lambda x, how, lengths: x, padded, (np.ones((3, 3)), "sum", None)).answer.all()
    for answer in (np.ones(3), np.ones((3, 2)), "text", None, [[1.0], [1.0, 2.0]]):
        assert str(observe(lambda lengths, it=answer: it, padded, (LENGTHS,)).answer) == str(answer)
    assert observe(lambda lengths: object(), padded, (LENGTHS,)).refused == "an object"


class NoisyAtPadding(Scale):
    def forward(self, x, lengths):
        is_padding = torch.arange(len(x))[:, None] >= lengths
        return super().forward(x) + torch.rand(()) * is_padding[..., None] * self.w


def test_padded_steps_of_a_module_get_no_gradient():
    args = ((2,), {"w": np.array([1.0, 2.0])}, [(np.ones((3, 3, 2)), LENGTHS)])
    (first,), gradients = observe(NoisyAtPadding, padded_module, args).answer
    (second,), again = observe(NoisyAtPadding, padded_module, args).answer
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[..., 1], [[2, 2, 2], [2, 0, 2], [0, 0, 2]])
    np.testing.assert_array_equal(gradients["w"], again["w"])
    (plain,), _ = observe(Scale, padded_module, ((2,), {"w": np.ones(2)}, [(np.ones((3, 2)),)])).answer
    assert plain.all()


@pytest.mark.parametrize("value", ["word", 1000])
def test_what_is_equal_is_not_the_same_object_so_that_is_is_no_equality(value):
    assert observe(lambda a, b: a == b[0], call, (value, [value])).answer is True
    assert observe(lambda a, b: a is b[0], call, (value, [value])).answer is False
