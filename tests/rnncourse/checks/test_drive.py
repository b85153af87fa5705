"""Each driver calls a candidate as its exercises need it."""

import numpy as np
import pytest
import torch
from torch import nn

from rnncourse.checks.callables import named
from rnncourse.checks.drive import observe


def test_a_generator_is_read_to_its_end_but_not_for_ever():
    assert observe(lambda n: (k * k for k in range(n)), "iterate", (3,)).answer == [0, 1, 4]

    def endless():
        while True:
            yield 1

    assert len(observe(endless, "iterate", ()).answer) == 1000


def test_what_a_candidate_writes_to_its_arguments_can_be_the_answer():
    def step(parameters, gradient):
        parameters["w"] -= gradient
        return 7.0

    seen = observe(step, "update", ({"w": np.ones(2)}, np.full(2, 0.5)))
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

    seen = observe(mean, "tensors", (np.array([1.0, 3.0]), np.array([True, False])))
    assert seen.answer[0].dtype == np.float64
    np.testing.assert_array_equal(seen.answer[1][0], [2.0, 6.0])
    assert not seen.changed
    assert not seen.shared


def test_a_tensor_changed_in_place_and_a_view_of_one_are_seen():
    assert observe(lambda x: x.mul_(2), "tensors", (np.ones(3),)).changed == (0,)
    assert observe(lambda x: x[1:], "tensors", (np.ones(3),)).shared


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return x * self.w


PARAMETERS = {"w": np.array([2.0, 3.0])}


def test_a_module_is_built_loaded_called_and_differentiated():
    seen = observe(Scale, "module", ((2,), PARAMETERS, [(np.ones((1, 2)),), (np.full((1, 2), 2.0),)]))
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
    seen = observe(candidate, "module", ((2,), PARAMETERS, [(np.ones((1, 2)),)]))
    assert words in seen.error


class CutOff(Scale):
    def forward(self, x):
        return super().forward(x.detach())


def test_a_layer_shows_the_gradients_of_its_inputs():
    args = ((2,), PARAMETERS, [(np.ones((1, 2)),), (np.full((1, 2), 2.0),)])
    outputs, gradients, by_input = observe(Scale, "layer", args).answer
    np.testing.assert_array_equal(outputs[1], [[4.0, 6.0]])
    np.testing.assert_allclose(gradients["w"], 3 * np.cos([0.5, 1.5]))
    np.testing.assert_allclose(by_input[1][0], [PARAMETERS["w"] * np.cos([0.5, 1.5])])
    outputs, gradients, by_input = observe(CutOff, "layer", args).answer
    np.testing.assert_array_equal(outputs[1], [[4.0, 6.0]])
    np.testing.assert_allclose(gradients["w"], 3 * np.cos([0.5, 1.5]))
    np.testing.assert_array_equal(by_input[1][0], [[0.0, 0.0]])


def test_a_function_of_tensors_shows_the_gradients_of_its_arguments():
    x, ids = np.array([1.0, 3.0]), np.array([0, 1])
    seen = observe(lambda x, ids: x * x, "differentiable", (x, ids))
    result, (by_x, by_ids) = seen.answer
    np.testing.assert_array_equal(result, [1.0, 9.0])
    np.testing.assert_allclose(by_x, 2 * x * np.cos([0.5, 1.5]))
    assert by_ids is None
    assert not seen.changed
    assert observe(lambda x, ids: x.mul_(2), "differentiable", (x, ids)).changed == (0,)
    assert "no gradient flows back" in observe(lambda x, ids: x.sum().item(), "differentiable", (x, ids)).error


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
        seen = observe(candidate, "builds", ((weight,), kind, (x,)))
        name, state, result = seen.answer
        assert name == "Linear"
        np.testing.assert_array_equal(state["weight"], weight)
        np.testing.assert_array_equal(result, [[3.0, 12.0]])
        assert seen.shared == shared


def test_what_is_built_must_be_a_module():
    assert "should be an nn.Module" in observe(lambda w: {"w": w}, "builds", ((np.ones(2),), "arrays", ())).error


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
        loss.backward()
        optimizer.step()
        return loss.item()

    args = (scale_model(start=[1.0, 2.0]), 0.1, [np.ones(2)], 2.0)
    seen = observe(one_step, "train", args)
    assert seen.error is None
    loss, parameters = seen.answer
    assert loss == 6.0
    np.testing.assert_allclose(parameters["w"], [0.8, 1.8])


@named
def seeded_draws(seed):
    """NumPy's random generator with this seed."""
    return np.random.default_rng(seed)


def test_a_random_generator_goes_by_its_seed():
    seen = observe(lambda rng: rng.standard_normal(2), "call", (seeded_draws(seed=3),))
    np.testing.assert_array_equal(seen.answer, np.random.default_rng(3).standard_normal(2))
